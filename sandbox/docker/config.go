package docker

import (
	"os"
	"time"
)

// Name is the backend's name.
const Name = "docker"

const (
	// DefaultImage is the image of sandboxes for which none is named.
	DefaultImage = "python:3.14-slim"
	// Root is the workspace's folder in every container.
	Root = "/workspace"
	// DefaultPIDs is how many processes and threads a sandbox may have at once.
	DefaultPIDs = 2048

	// Of the engine's memory and processors a sandbox gets, where the settings
	// say nothing, three quarters and all, but no more than these.
	maxMemory = 4 << 30
	maxCPUs   = 4
)

// Config says how sandboxes are made.
type Config struct {
	// Owner tells our containers from those of other installations: a digest of
	// the app's data folder, say. Sweep touches no others.
	Owner string
	// Image is used where a Spec names none; "" is DefaultImage.
	Image string
	// Memory is in bytes, CPUs in processors. 0 is what the engine can give, up
	// to 4 GiB and 4. PIDs of 0 is DefaultPIDs.
	Memory int64
	CPUs   float64
	PIDs   int64
	// Network is the engine's network that containers are in; "" is its default
	// one, "none" is none.
	Network string
	// Progress is told how the pull of an image goes on, from one goroutine per
	// pull; nil is nobody.
	Progress func(Progress)
	// Getenv and Home tell where the engine is, as the docker command has it;
	// nil and "" are the process's own.
	Getenv func(string) string
	Home   string
	// Sockets are where an engine is looked for that nobody named; nil is the
	// usual places.
	Sockets []string
}

// Progress is how far a pull is.
type Progress struct {
	Session string
	// Text says what is being done, for people.
	Text string
	// Done and Total are in bytes; Total is 0 until it is known, and may grow.
	Done, Total int64
	// Ended is true in the last one of a pull, also of one that failed.
	Ended bool
}

// environment is what the settings say of where the engine is.
func (c Config) environment() environment {
	e := systemEnvironment(c.Getenv, c.Home)
	if c.Sockets != nil {
		e.sockets = c.Sockets
	}
	return e
}

// The labels of our containers.
const (
	labelSession = "temporal-sandbox-agent.session"
	labelOwner   = "temporal-sandbox-agent.owner"
)

const (
	// askTime bounds one question to the engine.
	askTime = 30 * time.Second
	// startTime bounds the making and the start of a container: storage drivers
	// that copy whole images take their time.
	startTime = 5 * time.Minute
	// stopTime is how long the engine waits for a container to end by itself, in
	// seconds: nothing in it has anything to save.
	stopTime = 2
)

func systemEnvironment(getenv func(string) string, home string) environment {
	if getenv == nil {
		getenv = os.Getenv
	}
	if home == "" {
		home, _ = os.UserHomeDir() // without one there are no settings in it
	}
	e := environment{getenv: getenv, home: home, sockets: []string{"/var/run/docker.sock"}}
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		e.sockets = append(e.sockets, dir+"/docker.sock") // rootless
	}
	if home != "" {
		e.sockets = append(e.sockets, home+"/.docker/desktop/docker.sock", home+"/.docker/run/docker.sock", home+"/.colima/default/docker.sock")
	}
	return e
}
