package docker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tlsFiles is a folder with ca.pem, cert.pem and key.pem, as the docker command
// has them. What is not there is not used.
type tlsFiles struct {
	dir        string
	skipVerify bool // the user's own wish, set beside them
}

func (f *tlsFiles) config() (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: f.skipVerify, MinVersion: tls.VersionTLS12}
	ca, err := os.ReadFile(filepath.Join(f.dir, "ca.pem"))
	if err == nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(ca) {
			return nil, fmt.Errorf("%s/ca.pem holds no certificate", f.dir)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(f.dir, "cert.pem"), filepath.Join(f.dir, "key.pem"))
	if err == nil {
		config.Certificates = []tls.Certificate{pair}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return config, nil
}
