package docker

import (
	"context"
	"sort"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"temporal-sandbox-agent/sandbox"
)

// capabilities are all that root in a container keeps: what package managers
// need to unpack files of several owners and to drop to their own users, and
// what root needs to end the processes of these. It can't make devices, send
// raw packets, change the system's settings or get at anything outside.
func capabilities() []string {
	return []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"}
}

// limits are what a container may use.
type limits struct {
	memory, nanoCPUs, pids int64
}

// limits returns those of the settings, as far as the engine knows them.
func (p *Provider) limits(ctx context.Context, engine *client.Client) (limits, error) {
	info, err := engine.Info(ctx)
	if err != nil {
		return limits{}, wrap("ask the engine what it has", err)
	}
	l := limits{memory: p.cfg.Memory, nanoCPUs: int64(p.cfg.CPUs * 1e9), pids: p.cfg.PIDs}
	if l.memory <= 0 {
		l.memory = maxMemory
		if info.MemTotal > 0 {
			l.memory = min(l.memory, info.MemTotal/4*3)
		}
	}
	if l.nanoCPUs <= 0 {
		l.nanoCPUs = maxCPUs * 1e9
	}
	if info.NCPU > 0 { // the engine refuses more than it has
		l.nanoCPUs = min(l.nanoCPUs, int64(info.NCPU)*1e9)
	}
	if l.pids <= 0 {
		l.pids = DefaultPIDs
	}
	// Where the kernel lets the engine's user set no limits, as for rootless
	// engines on old systems, a container without them is better than none.
	if !info.MemoryLimit {
		l.memory = 0
	}
	if !info.CPUCfsQuota {
		l.nanoCPUs = 0
	}
	if !info.PidsLimit {
		l.pids = 0
	}
	return l, nil
}

// container is what is asked of the engine. Everything that an image could
// bring in that matters is set.
func (p *Provider) container(spec sandbox.Spec, image string, l limits) (*container.Config, *container.HostConfig) {
	env := make([]string, 0, len(spec.Env))
	for name, value := range spec.Env {
		env = append(env, name+"="+value)
	}
	sort.Strings(env)
	grace := stopTime
	config := &container.Config{
		Image:    image,
		Hostname: "sandbox",
		Env:      env,
		// What commands run as is told with each. In the container of another user
		// nobody could ever do what root has to: the engine leaves root no rights
		// there that could be had without new privileges.
		User: "0",
		// Something that is in every image and ends at once when it is told to.
		// Longer than any machine lives.
		Entrypoint:  []string{"sleep", "2147483647"},
		WorkingDir:  "/",
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		StopSignal:  "SIGTERM",
		StopTimeout: &grace,
		Labels:      map[string]string{labelSession: spec.Session, labelOwner: p.cfg.Owner},
	}
	host := &container.HostConfig{
		// It reaps what commands leave behind.
		Init:          new(true),
		NetworkMode:   container.NetworkMode(p.cfg.Network),
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		CapDrop:       []string{"ALL"},
		CapAdd:        capabilities(),
		SecurityOpt:   []string{"no-new-privileges"},
		LogConfig:     container.LogConfig{Type: "none"}, // it says nothing
		Resources:     container.Resources{Memory: l.memory, NanoCPUs: l.nanoCPUs},
	}
	if l.memory > 0 {
		host.MemorySwap = l.memory // no swap beside it
	}
	if l.pids > 0 {
		host.PidsLimit = &l.pids
	}
	return config, host
}
