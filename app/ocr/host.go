package ocr

import (
	"context"

	"deedkeep/app/wasm"

	"github.com/tetratelabs/wazero/api"
)

// hostModule is the module from which Tesseract imports all its functions.
const hostModule = "a"

// hostFuncs returns the functions that Tesseract may call. Their names are those that the minifier
// of the pinned build has chosen. Functions that aren't listed end the call: those that map files,
// change files, or throw C++ exceptions, and those for image decoders, which aren't used.
func (e *Engine) hostFuncs() map[string]wasm.HostFunc {
	return map[string]wasm.HostFunc{
		"l": e.OnFiles((*wasm.Files).Write),
		"m": e.OnFiles((*wasm.Files).Close),
		"n": e.OnFiles((*wasm.Files).OpenAt),
		"o": e.OnFiles((*wasm.Files).Read),
		"p": wasm.Returns(0), // fcntl64
		"s": wasm.Returns(0), // emscripten_asm_const_int: reports the progress
		"t": longjmp,
		"u": wasm.ResizeHeap,
		"v": wasm.Returns(-wasm.ErrnoROFS), // rmdir
		"w": wasm.Returns(-wasm.ErrnoROFS), // unlinkat
		"A": wasm.Epoch(1),                 // gmtime
		"B": wasm.Epoch(1),                 // localtime
		"C": wasm.Returns(0),               // mktime
		"D": wasm.UTC,                      // tzset
		"E": e.OnFiles((*wasm.Files).Seek),
		"F": wasm.Returns(0), // environ_get
		"G": wasm.EnvironSizes,
		"H": wasm.Returns(-wasm.ErrnoNoEnt), // getcwd
		"I": e.OnFiles((*wasm.Files).StatAt),
		"K": e.OnFiles((*wasm.Files).FStat),
		"L": wasm.Returns(0), // date_now: bits of the float 0.0
		"M": wasm.Clock,
		"O": wasm.Returns(-wasm.ErrnoNoTTY), // ioctl
		"Q": wasm.Returns(0),                // emscripten_fs_load_embedded_files: configurations that aren't used
	}
}

// exportHost instantiates the host module with the function types that Tesseract imports.
func (e *Engine) exportHost(ctx context.Context) error {
	funcs := e.hostFuncs()
	_, err := e.HostModule(hostModule, func(name string, f api.FunctionDefinition) api.GoModuleFunc {
		if invokeFuncs[name] {
			return e.invoke(f)
		}
		if do := funcs[name]; do != nil {
			return do.GoFunc(f)
		}
		return wasm.HostFunc(wasm.Abort).GoFunc(f)
	}).Instantiate(ctx)
	return err
}
