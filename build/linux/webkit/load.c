//go:build linux && lazywebkit

#include <dlfcn.h>
#include <stddef.h>

// The addresses that the jumps go to.
#define FUNCTION(name) __attribute__((visibility("hidden"))) void *tsa_address_of_##name;
#include "functions.h"
#undef FUNCTION

static struct {
	const char *name;
	void **address;
} functions[] = {
#define FUNCTION(name) {#name, &tsa_address_of_##name},
#include "functions.h"
#undef FUNCTION
};

// tsa_load_webkit returns NULL or what is wrong.
const char *tsa_load_webkit(void) {
	void *library = dlopen("libwebkit2gtk-4.1.so.0", RTLD_LAZY | RTLD_GLOBAL);
	if (library == NULL) return dlerror();
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		// In the library and in those that it needs, not in the executable.
		*functions[i].address = dlsym(library, functions[i].name);
		if (*functions[i].address == NULL) return dlerror();
	}
	return NULL;
}
