// Package docker makes sandboxes that are containers of a Docker engine.
//
// A container holds an init process, one that sleeps, and what commands start;
// no folder of this machine and no socket of the engine is in it. Its files are
// reached by commands as well (package shtree), so that they belong to whom
// commands run as.
package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/client"

	"temporal-sandbox-agent/sandbox"
)

// probeTime bounds a Probe; the contract gives it 5 seconds.
const probeTime = 4 * time.Second

// Probe tells whether a Docker engine can be used now and, if not, why and what
// the user can do. It looks where the docker command does (DOCKER_HOST,
// DOCKER_CONTEXT, the current context of ~/.docker/config.json) and then at the
// usual sockets.
func Probe(ctx context.Context) sandbox.Availability {
	return systemEnvironment(nil, "").probe(ctx)
}

func (e environment) probe(ctx context.Context) sandbox.Availability {
	_, a := e.find(ctx)
	return a
}

// find returns where an engine is that can be used.
func (e environment) find(ctx context.Context) (endpoint, sandbox.Availability) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	places, err := e.endpoints()
	if err != nil {
		return endpoint{}, no(fmt.Sprintf("The settings of Docker can't be used: %v.", err), "Mend or remove them, or set DOCKER_HOST.")
	}
	var first sandbox.Availability // why not, of the first place where something is
	for _, p := range places {
		got, there := p.probe(ctx)
		if got.OK {
			return p, got
		}
		if first.Reason == "" && (there || p.named) {
			first = got
		}
	}
	if first.Reason != "" {
		return endpoint{}, first
	}
	return endpoint{}, no("No Docker engine was found on this machine.", "Install Docker (on Debian and Ubuntu: sudo apt install docker.io), or set DOCKER_HOST to where one runs.")
}

func no(reason, remedy string) sandbox.Availability {
	return sandbox.Availability{Reason: reason, Remedy: remedy}
}

// probe asks the engine who it is. there is false when nothing is at this place.
func (p endpoint) probe(ctx context.Context) (a sandbox.Availability, there bool) {
	if strings.HasPrefix(p.host, "ssh://") {
		return no(fmt.Sprintf("The engine %s, named by %s, is reached by SSH, which the app does not speak.", p.host, p.from),
			"Forward its socket (ssh -L /tmp/docker.sock:/var/run/docker.sock …) and set DOCKER_HOST=unix:///tmp/docker.sock."), true
	}
	if p.tls != nil {
		if _, err := p.tls.config(); err != nil {
			return no(fmt.Sprintf("The certificates for the engine %s can't be used: %v.", p.host, err), "Mend the folder that "+p.from+" names."), true
		}
	}
	cli, err := p.client()
	if err != nil {
		return no(fmt.Sprintf("The address %q, named by %s, can't be used: %v.", p.host, p.from, err), "Correct it; unix:///var/run/docker.sock is the usual one."), true
	}
	defer cli.Close()
	version, err := cli.ServerVersion(ctx)
	if err != nil {
		return p.refused(ctx, err)
	}
	if version.Os != "linux" {
		return no(fmt.Sprintf("The engine %s runs %s containers; the agent needs Linux ones.", p.host, version.Os), "Switch it to Linux containers."), true
	}
	return sandbox.Availability{OK: true, Version: describe(version), Confined: true}, true
}

func describe(v types.Version) string {
	name := v.Platform.Name
	if name == "" {
		name = "Docker Engine"
	}
	return fmt.Sprintf("%s (%s, API %s, %s/%s)", v.Version, name, v.APIVersion, v.Os, v.Arch)
}

// refused tells why the engine could not be asked.
func (p endpoint) refused(ctx context.Context, err error) (a sandbox.Availability, there bool) {
	socket, isSocket := strings.CutPrefix(p.host, "unix://")
	if isSocket {
		if _, statErr := os.Stat(socket); errors.Is(statErr, fs.ErrNotExist) {
			return no(fmt.Sprintf("There is no Docker engine at %s, which %s names.", p.host, p.from), "Start it (sudo systemctl start docker, or open Docker Desktop), or name another one."), false
		}
	}
	// The client keeps the text of an error of the system, but not always the
	// error itself.
	text := err.Error()
	switch {
	case errors.Is(err, fs.ErrPermission) || strings.Contains(text, "permission denied"):
		return no(fmt.Sprintf("You may not use the Docker engine at %s.", p.host), "Add yourself to its group (sudo usermod -aG docker $USER) and log in again."), true
	case errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(text, "connection refused") || client.IsErrConnectionFailed(err):
		return no(fmt.Sprintf("The Docker engine at %s does not run.", p.host), "Start it: sudo systemctl start docker, or open Docker Desktop."), true
	case ctx.Err() != nil:
		return no(fmt.Sprintf("The Docker engine at %s does not answer.", p.host), "See whether it is starting or stuck: docker info."), true
	}
	return no(fmt.Sprintf("The Docker engine at %s can't be used: %v.", p.host, err), "See what docker info says."), true
}
