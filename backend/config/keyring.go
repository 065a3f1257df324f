package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"
)

const (
	// keyringTimeout is how long a call may take: the service behind it may
	// hang, or wait for the user to unlock it.
	keyringTimeout = 2 * time.Second
	// keyringRest is how long it is left alone after it failed, and how long
	// what it said is believed.
	keyringRest = time.Minute
)

// errNoKeyring is returned when there is no keyring that answers.
var errNoKeyring = errors.New("no keyring answers")

// ring is the system's keyring, as the library has it.
type ring interface {
	Get(service, user string) (string, error)
	Set(service, user, password string) error
	Delete(service, user string) error
}

// systemRing is the real one.
type systemRing struct{}

func (systemRing) Get(service, user string) (string, error) { return keyring.Get(service, user) }
func (systemRing) Set(service, user, password string) error {
	return keyring.Set(service, user, password)
}
func (systemRing) Delete(service, user string) error { return keyring.Delete(service, user) }

// hasSessionBus tells whether there is a bus on which a keyring could be: the
// library would start one otherwise.
func hasSessionBus() bool {
	if runtime.GOOS != "linux" {
		return true
	}
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	}
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return err == nil
}

// patientRing asks a keyring without ever waiting long, and remembers what it
// said for a while.
type patientRing struct {
	ring    ring
	service string
	present func() bool
	timeout time.Duration
	rest    time.Duration

	mu       sync.Mutex
	badUntil time.Time
	known    map[string]remembered
}

type remembered struct {
	value string
	until time.Time
}

func newPatientRing(r ring, service string) *patientRing {
	return &patientRing{
		ring: r, service: service, present: hasSessionBus,
		timeout: keyringTimeout, rest: keyringRest, known: map[string]remembered{},
	}
}

// get returns "" for what is not there.
func (p *patientRing) get(ctx context.Context, name string) (string, error) {
	p.mu.Lock()
	k, ok := p.known[name]
	p.mu.Unlock()
	if ok && time.Now().Before(k.until) {
		return k.value, nil
	}
	value, err := p.call(ctx, func() (string, error) {
		v, err := p.ring.Get(p.service, name)
		if errors.Is(err, keyring.ErrNotFound) {
			return "", nil
		}
		return v, err
	})
	if err != nil {
		return "", err
	}
	p.remember(name, value)
	return value, nil
}

func (p *patientRing) set(ctx context.Context, name, value string) error {
	got, err := p.call(ctx, func() (string, error) {
		if err := p.ring.Set(p.service, name, value); err != nil {
			return "", err
		}
		// Some services take a secret and keep nothing.
		return p.ring.Get(p.service, name)
	})
	if err != nil {
		return err
	}
	if got != value {
		return errNoKeyring
	}
	p.remember(name, value)
	return nil
}

func (p *patientRing) delete(ctx context.Context, name string) error {
	_, err := p.call(ctx, func() (string, error) {
		err := p.ring.Delete(p.service, name)
		if errors.Is(err, keyring.ErrNotFound) {
			return "", nil
		}
		return "", err
	})
	if err != nil {
		return err
	}
	p.remember(name, "")
	return nil
}

func (p *patientRing) remember(name, value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[name] = remembered{value: value, until: time.Now().Add(p.rest)}
}

// call runs do, which nothing can stop, and waits for it a while only. After a
// failure the keyring is left alone for some time.
func (p *patientRing) call(ctx context.Context, do func() (string, error)) (string, error) {
	p.mu.Lock()
	bad := time.Now().Before(p.badUntil)
	p.mu.Unlock()
	if bad || !p.present() {
		return "", errNoKeyring
	}
	type answer struct {
		value string
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := do()
		done <- answer{value, err}
	}()
	timer := time.NewTimer(p.timeout)
	defer timer.Stop()
	var err error
	select {
	case a := <-done:
		if a.err == nil {
			return a.value, nil
		}
		err = errors.Join(errNoKeyring, a.err)
	case <-timer.C:
		err = errNoKeyring
	case <-ctx.Done():
		return "", ctx.Err() // says nothing of the keyring
	}
	p.mu.Lock()
	p.badUntil = time.Now().Add(p.rest)
	p.mu.Unlock()
	return "", err
}

// remembered is what the keyring was last heard to hold, without asking it.
func (p *patientRing) remembered(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[name].value
}

// allRemembered is remembered for all names that begin with prefix.
func (p *patientRing) allRemembered(prefix string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for name, r := range p.known {
		if strings.HasPrefix(name, prefix) {
			out = append(out, r.value)
		}
	}
	return out
}
