package session

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
	"temporal-sandbox-agent/sandbox"
)

// PutFiles writes files into a folder of the workspace and returns their paths.
// What is there already is not overwritten: the new file gets a number.
func (s *Service) PutFiles(ctx context.Context, id, dir string, files []protocol.Upload) ([]string, error) {
	place, err := s.place(ctx, id)
	if err != nil {
		return nil, err
	}
	written := []string{}
	for _, file := range files {
		content, err := base64.StdEncoding.DecodeString(file.Base64)
		if err != nil {
			return written, &protocol.Fault{
				Class: protocol.ClassBadInput, Happened: "The file " + file.Name + " could not be read", Detail: err.Error(),
			}
		}
		name, err := freeName(ctx, place.Sandbox.Files(), dir, plainName(file.Name))
		if err != nil {
			return written, placeFault("find a name for "+file.Name, err)
		}
		if err := place.Sandbox.Files().Write(ctx, name, strings.NewReader(string(content)), 0); err != nil {
			return written, placeFault("write "+name, err)
		}
		written = append(written, name)
	}
	return written, nil
}

// plainName makes the name of a file of what a browser says.
func plainName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == ".." || name == "/" {
		return "file"
	}
	return strings.ReplaceAll(name, "\x00", "_")
}

// maxSameName is how many files of one name a folder may get.
const maxSameName = 1000

// freeName returns a path in dir that nothing has yet.
func freeName(ctx context.Context, files sandbox.FS, dir, name string) (string, error) {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if stem == "" { // .env has a name, and no ending
		stem, ext = ext, ""
	}
	for n := 1; n <= maxSameName; n++ {
		full := path.Join(dir, name)
		_, err := files.Stat(ctx, full)
		if sandbox.KindOf(err) == sandbox.KindNotFound {
			return full, nil
		}
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s (%d)%s", stem, n+1, ext)
	}
	return "", fmt.Errorf("there are %d files named like it already", maxSameName)
}

// SaveFile writes a file of the workspace to a file of this machine; of a folder
// it makes an archive (.tar.gz). What is there is replaced only when all is
// written.
func (s *Service) SaveFile(ctx context.Context, id, name, raw, to string) error {
	place, err := s.place(ctx, id)
	if err != nil {
		return err
	}
	from, err := rawPath(name, raw)
	if err != nil {
		return err
	}
	files := place.Sandbox.Files()
	folder := from == "" || from == "."
	if !folder {
		info, err := files.Stat(ctx, from)
		if err != nil {
			return placeFault("save the file", err)
		}
		folder = info.Mode.IsDir()
	}
	if folder && !strings.HasSuffix(to, ".tar.gz") {
		to += ".tar.gz" // nobody was asked about this name
		if _, err := os.Lstat(to); err == nil {
			return &protocol.Fault{
				Class: protocol.ClassBadInput, Happened: "There is a file " + filepath.Base(to) + " already", Kept: "It was not changed.",
				Remedy: "Choose another name, or this one with its ending.",
			}
		}
	}
	err = replaceFile(to, func(w io.Writer) error {
		if folder {
			return packFolder(ctx, files, from, w)
		}
		return copyOut(ctx, files, from, w)
	})
	if errors.Is(err, fs.ErrPermission) {
		return &protocol.Fault{
			Class: protocol.ClassBadInput, Happened: "The file can't be written there", Remedy: "Choose another folder.", Detail: err.Error(),
		}
	}
	if err != nil {
		return placeFault("save the file", err)
	}
	return nil
}

// replaceFile writes a file under another name and gives it its own when it is
// whole.
func replaceFile(to string, write func(io.Writer) error) error {
	temp, err := os.CreateTemp(filepath.Dir(to), ".saving-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone already if all went well
	err = write(temp)
	if err := errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), to)
}

func copyOut(ctx context.Context, files sandbox.FS, from string, w io.Writer) error {
	r, err := files.Open(ctx, from, 0, -1)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, r.Close())
}

// packFolder writes a folder as a compressed archive.
func packFolder(ctx context.Context, files sandbox.FS, dir string, w io.Writer) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	err := packInto(ctx, archive, files, dir, "")
	return errors.Join(err, archive.Close(), zipped.Close())
}

func packInto(ctx context.Context, archive *tar.Writer, files sandbox.FS, dir, below string) error {
	infos, err := files.ReadDir(ctx, dir)
	if err != nil {
		return err
	}
	for _, info := range infos {
		header := &tar.Header{Name: path.Join(below, info.Name), Mode: int64(info.Mode.Perm()), ModTime: info.Modified, Format: tar.FormatGNU}
		full := path.Join(dir, info.Name)
		switch {
		case info.Mode.IsDir():
			header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
		case info.Mode&fs.ModeSymlink != 0:
			header.Typeflag, header.Linkname = tar.TypeSymlink, info.Target
		case info.Mode.IsRegular():
			header.Typeflag, header.Size = tar.TypeReg, info.Size
		default:
			continue
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		switch {
		case info.Mode.IsDir():
			err = packInto(ctx, archive, files, full, path.Join(below, info.Name))
		case info.Mode.IsRegular():
			err = copyOut(ctx, files, full, archive)
		}
		if err != nil {
			return fmt.Errorf("pack %q: %w", full, err)
		}
	}
	return nil
}
