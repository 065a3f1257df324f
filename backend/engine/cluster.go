package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
)

// ClusterOptions of DialCluster. All may be empty: the standard configuration
// of Temporal's tools then decides alone.
type ClusterOptions struct {
	// ConfigFile is the temporal.toml to read; TEMPORAL_CONFIG_FILE or the
	// user's own if empty.
	ConfigFile string
	// Profile in that file; TEMPORAL_PROFILE or "default" if empty.
	Profile string
	// Address (host:port) and Namespace win over file and environment.
	Address   string
	Namespace string
	// Log takes the client's log; slog's default if nil.
	Log *slog.Logger
	// Environ is the environment as "KEY=value" lines; the process's if nil.
	Environ []string
}

// Cluster is a connection to a Temporal service that somebody else runs: a
// self-hosted one, Temporal Cloud, or a development server.
type Cluster struct {
	Client client.Client
	// Address and Namespace are what was dialled, for the status bar.
	Address, Namespace string
}

// Close closes the client.
func (c *Cluster) Close() { c.Client.Close() }

// DialCluster connects to the service that temporal.toml and the TEMPORAL_*
// variables name (address, namespace, TLS or mutual TLS, API key), and makes a
// first call.
func DialCluster(ctx context.Context, o ClusterOptions) (*Cluster, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	opts, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{
		ConfigFilePath: o.ConfigFile, ConfigFileProfile: o.Profile, EnvLookup: o.environment(),
	})
	if err != nil {
		return nil, fmt.Errorf("read the Temporal configuration: %w", err)
	}
	if o.Address != "" {
		opts.HostPort = o.Address
	}
	if o.Namespace != "" {
		opts.Namespace = o.Namespace
	}
	if opts.HostPort == "" {
		opts.HostPort = client.DefaultHostPort
	}
	if opts.Namespace == "" {
		opts.Namespace = client.DefaultNamespace
	}
	host, _ := os.Hostname()
	opts.Identity = fmt.Sprintf("%d@%s", os.Getpid(), host)
	opts.Logger = sdklog.NewStructuredLogger(o.Log)
	c, err := client.DialContext(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("connect to Temporal at %s: %w", opts.HostPort, err)
	}
	// A wrong namespace would otherwise show as a worker that never gets work.
	_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: opts.Namespace})
	var missing *serviceerror.NamespaceNotFound
	if errors.As(err, &missing) {
		c.Close()
		return nil, fmt.Errorf("connect to Temporal at %s: it has no namespace %q: %w", opts.HostPort, opts.Namespace, err)
	}
	return &Cluster{Client: c, Address: opts.HostPort, Namespace: opts.Namespace}, nil
}

func (o ClusterOptions) environment() envconfig.EnvLookup {
	if o.Environ == nil {
		return envconfig.EnvLookupOS
	}
	return environ(o.Environ)
}

// environ is an environment given as "KEY=value" lines; the last one wins.
type environ []string

// Environ is all of it.
func (e environ) Environ() []string { return e }

// LookupEnv is one value of it.
func (e environ) LookupEnv(key string) (value string, found bool) {
	for _, line := range e {
		if k, v, ok := strings.Cut(line, "="); ok && k == key {
			value, found = v, true
		}
	}
	return value, found
}
