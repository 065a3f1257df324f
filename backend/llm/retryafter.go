package llm

import (
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxRetryAfter keeps nonsense ("retry in 9e99 s") from overflowing.
const maxRetryAfter = 7 * 24 * time.Hour

// retryAfter tells how long the other side asks to wait: by header, by the text
// of the error, or by the reset of a limit that is used up. Zero when it does
// not.
func retryAfter(h http.Header, message string, now time.Time) time.Duration {
	if d, ok := seconds(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	if v := h.Get("Retry-After"); v != "" {
		if d, ok := seconds(v, time.Second); ok {
			return d
		}
		if t, err := http.ParseTime(v); err == nil {
			return clampWait(t.Sub(now))
		}
	}
	if d := waitInText(message); d > 0 {
		return d
	}
	var longest time.Duration
	for _, limit := range []string{"Requests", "Tokens", ""} {
		longest = max(longest, resetOf(h, limit, now))
	}
	return longest
}

// resetOf reads x-ratelimit-reset-requests and its siblings. A limit that has
// something left is not what stopped us.
func resetOf(h http.Header, limit string, now time.Time) time.Duration {
	suffix := limit
	if limit != "" {
		suffix = "-" + limit
	}
	v := h.Get("X-Ratelimit-Reset" + suffix)
	if v == "" {
		return 0
	}
	if left := h.Get("X-Ratelimit-Remaining" + suffix); left != "" && left != "0" {
		return 0
	}
	if d, err := time.ParseDuration(v); err == nil { // "6m0s", "120ms"
		return clampWait(d)
	}
	n, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil:
		return 0
	case n > 1e11: // a point in time, in milliseconds
		return clampWait(time.UnixMilli(int64(n)).Sub(now))
	case n > 1e8: // a point in time, in seconds
		return clampWait(time.Unix(int64(n), 0).Sub(now))
	default:
		d, _ := seconds(v, time.Second)
		return d
	}
}

func seconds(v string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(n) {
		return 0, false
	}
	if n >= float64(maxRetryAfter)/float64(unit) {
		return maxRetryAfter, true
	}
	return clampWait(time.Duration(n * float64(unit))), true
}

func clampWait(d time.Duration) time.Duration { return min(max(d, 0), maxRetryAfter) }

// "Please try again in 1.2s.", "in 6m0s", "in 20 seconds", "after 35ms".
var waitText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:try again|retry)\s*(?:in|after)\s*((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|hours?|h|minutes?|min|m|seconds?|secs?|s)\s*)+)`)
})

var waitPart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(ms|milliseconds?|hours?|h|minutes?|min|m|seconds?|secs?|s)`)
})

func waitInText(text string) time.Duration {
	m := waitText().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	var sum time.Duration
	for _, p := range waitPart().FindAllStringSubmatch(m[1], -1) {
		unit := time.Second
		switch u := strings.ToLower(p[2]); {
		case u == "ms" || strings.HasPrefix(u, "milli"):
			unit = time.Millisecond
		case strings.HasPrefix(u, "h"):
			unit = time.Hour
		case strings.HasPrefix(u, "m"):
			unit = time.Minute
		}
		d, _ := seconds(p[1], unit)
		sum += d
	}
	return clampWait(sum)
}
