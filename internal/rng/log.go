package rng

// Log is the natural logarithm of a positive, finite x, the same on every architecture.
func Log(x float64) float64 { return ln(x) }
