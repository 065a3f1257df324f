package protocol

import "time"

// Class says what kind of fault happened: it decides whether a call is tried
// again, and what the user is offered.
type Class string

// The classes of faults.
const (
	ClassNoKey        Class = "no_key"           // no key is set for the provider
	ClassBadKey       Class = "bad_key"          // the key was refused
	ClassNoModel      Class = "no_such_model"    // the model does not exist or is not allowed
	ClassQuota        Class = "quota"            // the account has no credit left
	ClassRateLimit    Class = "rate_limited"     // too many requests: wait as told
	ClassOverloaded   Class = "overloaded"       // the service is overloaded or failing
	ClassConnection   Class = "connection_lost"  // not reachable, or cut in mid-stream
	ClassContext      Class = "context_too_long" // the conversation does not fit: compact
	ClassRefusal      Class = "refusal"          // the model declined
	ClassRequest      Class = "bad_request"      // the service does not take the request
	ClassHostLost     Class = "host_lost"        // the process that worked it is gone
	ClassCancelled    Class = "cancelled"        // stopped by the user
	ClassWorkspace    Class = "workspace"        // the folder is gone or can't be written
	ClassDiskFull     Class = "disk_full"        // no space left
	ClassUnavailable  Class = "unavailable"      // the backend can't be used now
	ClassBackendDown  Class = "backend_down"     // the backend's engine is not there now: wait for it
	ClassSandboxGone  Class = "sandbox_gone"     // the sandbox no longer exists
	ClassStepLimit    Class = "step_limit"       // the model did not stop calling tools
	ClassBadInput     Class = "bad_input"        // what was asked can't be done as asked
	ClassOccupied     Class = "occupied"         // the folder holds other files: nothing was written
	ClassNotFound     Class = "not_found"        // no such session, turn, file
	ClassBusy         Class = "busy"             // draining: ask again
	ClassInternal     Class = "internal"         // a fault of ours
	ClassIncompatible Class = "incompatible"     // data of another version
)

// Transient tells whether waiting and trying again can help.
func (c Class) Transient() bool {
	switch c {
	case ClassRateLimit, ClassOverloaded, ClassConnection, ClassHostLost, ClassBusy, ClassBackendDown:
		return true
	default:
		return false
	}
}

// Fault is an error as the user meets it: what happened, what was kept, what
// to do.
type Fault struct {
	Class    Class  `json:"class"`
	Happened string `json:"happened"`
	Kept     string `json:"kept,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
	// Detail is the technical cause, shown on demand.
	Detail string `json:"detail,omitempty"`
	// RetryAfter is how long the other side asked us to wait; 0 if it did not.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
}

// Error makes a Fault an error of Go.
func (f *Fault) Error() string {
	if f.Detail != "" && f.Detail != f.Happened {
		return f.Happened + ": " + f.Detail
	}
	return f.Happened
}
