package backend

import (
	"testing"
	"time"
)

func TestClockSetBack(t *testing.T) {
	var w clockWatch
	for i, look := range []struct {
		clock, real time.Duration
		back        bool
	}{
		{5 * time.Second, 5 * time.Second, false},
		{9900 * time.Millisecond, 10 * time.Second, false},        // drift
		{time.Hour, 15 * time.Second, false},                      // a sleep, or set forward
		{time.Hour + 5*time.Second, 20 * time.Second, false},      //
		{time.Minute, 25 * time.Second, true},                     // set back
		{time.Minute + 5*time.Second, 30 * time.Second, false},    // told once
		{-24 * time.Hour, 35 * time.Second, true},                 // to before the start
		{-24*time.Hour + 6*time.Second, 40 * time.Second, false},  //
		{-24*time.Hour + 7*time.Second, 45 * time.Second, true},   // by some seconds
		{-24*time.Hour + 11*time.Second, 50 * time.Second, false}, //
	} {
		if back := w.setBack(look.clock, look.real); back != look.back {
			t.Errorf("look %d: %v", i, back)
		}
	}
}
