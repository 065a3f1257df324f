//go:build unix && !linux

package outpipe

// fionread asks how many bytes can be read: FIONREAD of <sys/filio.h>, which
// all BSDs share.
const fionread = 0x4004667f
