package size

import (
	"context"
	"slices"
)

// What is looked at. Scanned is how many values are looked at first, evenly over all;
// beside is how far the neighbours of the answer go; wholeBelow is up to how many values
// below an answer are all looked at once it is clear that more is not always better.
const (
	scanned    = 9
	beside     = 2
	wholeBelow = 64
)

// search finds the answer for one policy. points are those of the values that were looked
// at, nil for others.
type search struct {
	ctx      context.Context
	q        *Question
	label    string
	need     int
	points   []*Point
	warnings []string

	done, begun int // runs, those of policies before included
}

// run scans the values, narrows down where the targets begin to hold by bisection, looks at
// the neighbours of what it finds, and then finds by bisection from where on nothing changes
// any more.
func (s *search) run() (*Found, error) {
	first := scanned
	if s.q.All {
		first = len(s.points)
	}
	if err := s.look(scan(len(s.points), first)...); err != nil {
		return nil, err
	}
	if err := s.narrow(); err != nil {
		return nil, err
	}
	if err := s.doubt(); err != nil {
		return nil, err
	}
	if err := s.level(); err != nil {
		return nil, err
	}
	return s.found(), nil
}

// scan lists positions among n, evenly and with the ends: all of them, or as many as most.
func scan(n, most int) []int {
	var at []int
	for k := range min(n, most) {
		if n <= most {
			at = append(at, k)
		} else {
			at = append(at, k*(n-1)/(most-1))
		}
	}
	return at
}

// look evaluates the values that were not looked at yet. Positions outside are left out.
func (s *search) look(at ...int) error {
	fresh := slices.DeleteFunc(slices.Clone(at), func(i int) bool { return i < 0 || i >= len(s.points) || s.points[i] != nil })
	if len(fresh) == 0 {
		return nil
	}
	return s.evaluate(fresh)
}

// first returns the position of the first value looked at that meets the targets, or -1.
func (s *search) first() int {
	return slices.IndexFunc(s.points, func(p *Point) bool { return p != nil && p.Met })
}

// narrow bisects between the first value that meets the targets and the one looked at
// before it, until they are neighbours. Where no value meets them all it does so for each
// target by itself: together they may hold between two values of the scan only.
func (s *search) narrow() error {
	for t := range s.q.Targets {
		if s.first() >= 0 {
			break
		}
		holds := func(p *Point) bool { return p.each[t] }
		yes := slices.IndexFunc(s.points, func(p *Point) bool { return p != nil && holds(p) })
		if yes < 0 {
			return nil // one that never holds
		}
		if err := s.bisect(s.before(yes), yes, holds); err != nil {
			return err
		}
	}
	met := s.first()
	if met < 0 {
		return nil
	}
	return s.bisect(s.before(met), met, func(p *Point) bool { return p.Met })
}

// before returns the position of the value looked at before one, or -1.
func (s *search) before(i int) int {
	for i--; i >= 0 && s.points[i] == nil; {
		i--
	}
	return i
}

// bisect looks at values between no, which has not a property or is -1, and yes, which has
// it, until a value without it has one with it as its neighbour.
func (s *search) bisect(no, yes int, has func(p *Point) bool) error {
	for yes-no > 1 {
		middle := no + (yes-no)/2
		if err := s.look(middle); err != nil {
			return err
		}
		if has(s.points[middle]) {
			yes = middle
		} else {
			no = middle
		}
	}
	return nil
}

// doubt looks at the neighbours of the answer, and, if a value beyond a better one does not
// meet the targets, at everything below the answer as far as that goes.
func (s *search) doubt() error {
	answer := s.first()
	if answer < 0 {
		return nil
	}
	var near []int
	for d := 1; d <= beside; d++ {
		near = append(near, answer-d, answer+d)
	}
	if err := s.look(near...); err != nil {
		return err
	}
	answer = s.first()
	if s.monotone() || answer > wholeBelow {
		return nil
	}
	var below []int
	for i := range answer {
		below = append(below, i)
	}
	return s.look(below...)
}

// monotone reports whether, of the values looked at, all behind the first that meets the
// targets meet them too.
func (s *search) monotone() bool {
	answer := s.first()
	return answer < 0 || s.steady() == answer
}

// steady returns the position from which on all values looked at meet the targets, or -1.
func (s *search) steady() int {
	from := -1
	for i, p := range slices.Backward(s.points) {
		if p == nil {
			continue
		}
		if !p.Met {
			break
		}
		from = i
	}
	return from
}

// level bisects, for each metric of a target, for the first value from which on it is what it
// is with the last.
func (s *search) level() error {
	for _, metric := range s.q.asked() {
		from := s.levelFrom(metric)
		if err := s.bisect(s.before(from), from, func(p *Point) bool { return s.asLast(metric, p) }); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) asLast(metric string, p *Point) bool {
	return same(metric, s.points[len(s.points)-1], p)
}

// levelFrom returns the position from which on, as far as was looked, a metric stays.
func (s *search) levelFrom(metric string) int {
	from := len(s.points) - 1
	for i, p := range slices.Backward(s.points) {
		if p == nil {
			continue
		}
		if !s.asLast(metric, p) {
			break
		}
		from = i
	}
	return from
}
