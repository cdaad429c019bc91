package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// count is a flag with a whole number that may not be too small.
type count struct {
	to    *int
	least int
}

// countVar adds a flag with a whole number of at least so many.
func countVar(flags *pflag.FlagSet, to *int, name string, value, least int, usage string) {
	*to = value
	flags.Var(&count{to, least}, name, usage)
}

// String returns the number.
func (c *count) String() string {
	if c.to == nil { // help makes one to find out what is nothing
		return "0"
	}
	return strconv.Itoa(*c.to)
}

// Set reads the number.
func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < c.least {
		return fmt.Errorf("expected a whole number, %d or more", c.least)
	}
	*c.to = n
	return nil
}

// Type is what help calls it.
func (c *count) Type() string { return "int" }
