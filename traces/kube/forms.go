package kube

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// form is what the text of a field must look like.
type form struct {
	ok   func(string) bool
	what string
}

var forms = map[string]*form{
	"name":      {isName, "a name of lower-case letters, digits, - and ."},
	"label":     {isDNSLabel, "a name of at most 63 lower-case letters, digits and -"},
	"key":       {isKey, "a name such as cpu or example.com/rack"},
	"value":     {isLabelValue, "a value of at most 63 letters, digits, -, _ and ."},
	"quantity":  {isQuantity, "a quantity such as 8, 500m or 96Gi"},
	"amount":    {isAmount, "a quantity of at least 0, such as 8, 500m or 96Gi"},
	"duration":  {isDuration, "a duration such as 90s or 1h30m"},
	"span":      {isSpan, "a duration of at least 0, such as 90s or 1h30m"},
	"longer":    {isLonger, "a duration of more than 0, such as 90s or 1h30m"},
	"time":      {isTime, "a time such as 2025-06-01T12:00:00Z"},
	"intorpart": {isCountOrShare, "a number of pods or a percentage"},
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isLower(c) || c >= 'A' && c <= 'Z' }

func isDNSLabel(s string) bool {
	for i := range len(s) {
		if !isLower(s[i]) && s[i] != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-'
}

// isName reports whether a text can be the name of an object: a domain name.
func isName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		for i := range len(part) {
			if !isLower(part[i]) && part[i] != '-' {
				return false
			}
		}
		if part == "" || part[0] == '-' || part[len(part)-1] == '-' {
			return false
		}
	}
	return len(s) <= 253
}

// isKey reports whether a text can be the key of a label or the name of a resource.
func isKey(s string) bool {
	if i := strings.IndexByte(s, '/'); i >= 0 {
		if !isName(s[:i]) {
			return false
		}
		s = s[i+1:]
	}
	return s != "" && isLabelValue(s)
}

func isLabelValue(s string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && strings.IndexByte("-_.", s[i]) < 0 {
			return false
		}
	}
	return s == "" || len(s) <= 63 && isAlnum(s[0]) && isAlnum(s[len(s)-1])
}

func isQuantity(s string) bool {
	_, err := resource.ParseQuantity(s)
	return err == nil
}

func isAmount(s string) bool {
	q, err := resource.ParseQuantity(s)
	return err == nil && q.Sign() >= 0
}

func isDuration(s string) bool {
	_, err := time.ParseDuration(s)
	return err == nil
}

func isSpan(s string) bool {
	d, err := time.ParseDuration(s)
	return err == nil && d >= 0
}

func isLonger(s string) bool {
	d, err := time.ParseDuration(s)
	return err == nil && d > 0
}

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

func isCountOrShare(s string) bool {
	s = strings.TrimSuffix(s, "%")
	return s != "" && strings.Trim(s, "0123456789") == ""
}
