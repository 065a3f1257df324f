package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/joho/godotenv"
)

// maxDotEnv is the largest .env file that is read, in bytes.
const maxDotEnv = 256 << 10

// dotEnv is what a .env file says of the names that we know. Nothing else of it
// is looked at, and nothing of it reaches the environment of this process.
type dotEnv struct {
	path   string
	values map[string]string
}

// readDotEnv reads the file of a folder. One that is not there is empty; one
// that can't be read is empty and told in notice.
func readDotEnv(dir string) (d dotEnv, notice string) {
	d = dotEnv{path: filepath.Join(dir, ".env"), values: map[string]string{}}
	all, err := parseDotEnv(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, ""
	}
	if err != nil {
		return d, fmt.Sprintf("The file %s could not be used: %v.", d.path, err)
	}
	for _, n := range names() {
		if v := strings.TrimSpace(all[n.name]); v != "" {
			d.values[n.name] = v
		}
	}
	return d, ""
}

func parseDotEnv(path string) (map[string]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// A pipe would hold up the start, a huge file fill the memory.
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist // a folder named .env is a virtual environment, say
	}
	if info.Size() > maxDotEnv {
		return nil, fmt.Errorf("it is larger than %d bytes", maxDotEnv)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	all, err := godotenv.Parse(io.LimitReader(f, maxDotEnv))
	if err != nil {
		// The library's message may quote the line, and with it a key.
		return nil, errors.New("it is not a valid .env file")
	}
	return all, nil
}
