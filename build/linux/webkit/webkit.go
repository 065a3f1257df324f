//go:build linux && lazywebkit

// Package webkit loads WebKitGTK, and with it GTK and GLib, when a window is to
// be opened and not when the program starts. Linked as usual they cost every
// command without a window a good 100 ms and 50 MB, and on a machine without
// WebKitGTK not even a command would start.
//
// How: for each function that Wails calls in them, this package defines a
// function of the same name, hidden inside the executable, that jumps to an
// address which Load fills in. The linker then needs the libraries for nothing
// and leaves them out (--as-needed). functions.h names the functions; if Wails
// comes to call one more, the linker takes the libraries in again as usual and
// the test of this package says so.
package webkit

/*
#cgo LDFLAGS: -Wl,--as-needed -ldl
#include <stdlib.h>
const char *tsa_load_webkit(void);
*/
import "C"

import "errors"

// Library is what is loaded; the others are those that it needs itself.
const Library = "libwebkit2gtk-4.1.so.0"

// Load loads the libraries. It must have succeeded before Wails is used. The
// error is the system's own: which file is missing or broken.
func Load() error {
	if problem := C.tsa_load_webkit(); problem != nil {
		return errors.New(C.GoString(problem))
	}
	return nil
}
