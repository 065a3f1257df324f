package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/docker/docker/client"
)

// environment is what tells where the engine is.
type environment struct {
	getenv func(string) string
	home   string
	// sockets are where engines listen when nothing else is said.
	sockets []string
}

// endpoint is where an engine listens.
type endpoint struct {
	host string
	// from says who named it, for people.
	from  string
	named bool      // by the user: it is the only place
	tls   *tlsFiles // nil without
}

// endpoints returns where to look for the engine: the one place that the user
// named, by DOCKER_HOST or by a context, as the docker command has it; or else
// the usual sockets.
func (e environment) endpoints() ([]endpoint, error) {
	if host := e.getenv("DOCKER_HOST"); host != "" {
		p := endpoint{host: host, from: "DOCKER_HOST", named: true}
		if dir := e.getenv("DOCKER_CERT_PATH"); dir != "" {
			p.tls = &tlsFiles{dir: dir, skipVerify: e.getenv("DOCKER_TLS_VERIFY") == ""}
		}
		return []endpoint{p}, nil
	}
	name, err := e.contextName()
	if err != nil {
		return nil, err
	}
	if name != "" && name != "default" {
		p, err := e.context(name)
		return []endpoint{p}, err
	}
	var out []endpoint
	for _, socket := range e.sockets {
		out = append(out, endpoint{host: "unix://" + socket, from: "the usual place"})
	}
	return out, nil
}

// client returns a client of the engine at an endpoint; it asks nothing yet.
func (p endpoint) client() (*client.Client, error) {
	// A connection that is kept would be found dead when the engine has been
	// started anew, and what is sent then is lost or sent twice.
	transport := &http.Transport{DisableKeepAlives: true}
	if p.tls != nil {
		config, err := p.tls.config()
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = config
	}
	return client.NewClientWithOpts(client.WithHTTPClient(&http.Client{Transport: transport}), client.WithHost(p.host), client.WithAPIVersionNegotiation())
}

// configDir is where the docker command keeps its settings; "" if nowhere.
func (e environment) configDir() string {
	if dir := e.getenv("DOCKER_CONFIG"); dir != "" || e.home == "" {
		return dir
	}
	return filepath.Join(e.home, ".docker")
}

func (e environment) contextName() (string, error) {
	if name := e.getenv("DOCKER_CONTEXT"); name != "" {
		return name, nil
	}
	dir := e.configDir()
	if dir == "" {
		return "", nil
	}
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	err := readJSON(filepath.Join(dir, "config.json"), &config)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return config.CurrentContext, err
}

// context reads a context of the docker command. Its folders are named after
// the digest of its name.
func (e environment) context(name string) (endpoint, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	var meta struct {
		Endpoints struct {
			Docker struct {
				Host          string
				SkipTLSVerify bool
			} `json:"docker"`
		}
	}
	if err := readJSON(filepath.Join(e.configDir(), "contexts", "meta", id, "meta.json"), &meta); err != nil {
		return endpoint{}, fmt.Errorf("the Docker context %q can't be read: %w", name, err)
	}
	p := endpoint{host: meta.Endpoints.Docker.Host, from: fmt.Sprintf("the Docker context %q", name), named: true}
	if p.host == "" {
		return endpoint{}, fmt.Errorf("the Docker context %q names no engine", name)
	}
	certs := filepath.Join(e.configDir(), "contexts", "tls", id, "docker")
	if _, err := os.Stat(certs); err == nil || meta.Endpoints.Docker.SkipTLSVerify {
		p.tls = &tlsFiles{dir: certs, skipVerify: meta.Endpoints.Docker.SkipTLSVerify}
	}
	return p, nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
