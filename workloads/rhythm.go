package workloads

// hourWeights is the daily rhythm of arrivals: the rate during each hour of the day in
// thousandths of the mean, round(1000 (1 + sin(2 pi (hour + 1/2 - 10) / 24) / 2)). It is
// slowest around 4:00 and fastest, three times as fast, around 16:00. The values are
// written out so that arrivals are integers on every architecture; they add up to 24000,
// so that the mean is kept.
var hourWeights = [24]uint64{
	696, 603, 538, 504, 504, 538, 603, 696, 809, 935, 1065, 1191,
	1304, 1397, 1462, 1496, 1496, 1462, 1397, 1304, 1191, 1065, 935, 809,
}

const (
	hourMillis = 3_600_000
	dayMillis  = 24 * hourMillis
	dayWeight  = 24_000 * hourMillis // cumulative rate of a whole day
)

// rhythm is the daily rhythm seen from time zero at a full hour of the day, 0 to 23.
type rhythm struct{ startHour int }

// cumulative returns the rate summed over the first ms milliseconds, in thousandths of
// the mean x ms. It grows strictly and is piecewise linear.
func (r rhythm) cumulative(ms uint64) uint64 {
	sum, rest := ms/dayMillis*dayWeight, ms%dayMillis
	for hour := r.startHour; rest > 0; hour++ {
		step := min(rest, hourMillis)
		sum += step * hourWeights[hour%24]
		rest -= step
	}
	return sum
}

// inverse returns the last millisecond whose cumulative rate is at most the given one.
// It warps time: what is uniform in cumulative rate follows the rhythm in time.
func (r rhythm) inverse(rate uint64) uint64 {
	ms, rest := rate/dayWeight*dayMillis, rate%dayWeight
	for hour := r.startHour; ; hour++ {
		weight := hourWeights[hour%24]
		if rest < weight*hourMillis {
			return ms + rest/weight
		}
		rest -= weight * hourMillis
		ms += hourMillis
	}
}
