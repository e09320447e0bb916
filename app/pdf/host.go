package pdf

import (
	"context"

	"deedkeep/app/wasm"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/emscripten"
)

const (
	env  = "env"
	wasi = "wasi_snapshot_preview1"
)

// hostFuncs returns the functions that PDFium may call, by module and name. Functions that would
// open other files, change a file, or start a process fail.
func (e *Engine) hostFuncs() map[string]map[string]wasm.HostFunc {
	return map[string]map[string]wasm.HostFunc{
		env: {
			"emscripten_date_now":    wasm.Returns(0), // bits of the float 0.0
			"__syscall_openat":       e.OnFiles((*wasm.Files).OpenAt),
			"__syscall_fstat64":      e.OnFiles((*wasm.Files).FStat),
			"__syscall_stat64":       e.OnFiles((*wasm.Files).Stat),
			"__syscall_lstat64":      e.OnFiles((*wasm.Files).Stat),
			"__syscall_newfstatat":   e.OnFiles((*wasm.Files).StatAt),
			"__syscall_fcntl64":      wasm.Returns(0),
			"__syscall_ioctl":        wasm.Returns(-wasm.ErrnoNoTTY),
			"__syscall_getdents64":   wasm.Returns(-wasm.ErrnoBadFD),
			"__syscall_unlinkat":     wasm.Returns(-wasm.ErrnoROFS),
			"__syscall_rmdir":        wasm.Returns(-wasm.ErrnoROFS),
			"__syscall_ftruncate64":  wasm.Returns(-wasm.ErrnoROFS),
			"_tzset_js":              wasm.UTC,
			"_localtime_js":          wasm.Epoch(2),
			"_gmtime_js":             wasm.Epoch(2),
			"_emscripten_memcpy_js":  wasm.Memcpy,
			"emscripten_resize_heap": wasm.ResizeHeap,
			"_abort_js":              wasm.Abort,
			"__assert_fail":          wasm.Abort,
		},
		wasi: {
			"fd_close":          e.OnFiles((*wasm.Files).Close),
			"fd_read":           e.OnFiles((*wasm.Files).Read),
			"fd_seek":           e.OnFiles((*wasm.Files).SeekSplit),
			"fd_write":          e.OnFiles((*wasm.Files).Write),
			"fd_sync":           wasm.Returns(0),
			"environ_sizes_get": wasm.EnvironSizes,
			"environ_get":       wasm.Returns(0),
		},
	}
}

// exportHost instantiates the host modules with the function types that PDFium imports.
func (e *Engine) exportHost(ctx context.Context) error {
	jumps, err := emscripten.NewFunctionExporterForModule(e.Module)
	if err != nil {
		return err
	}
	for module, funcs := range e.hostFuncs() {
		builder := e.HostModule(module, func(name string, f api.FunctionDefinition) api.GoModuleFunc {
			if do := funcs[name]; do != nil {
				return do.GoFunc(f)
			}
			return nil
		})
		if module == env {
			jumps.ExportFunctions(builder)
		}
		if _, err := builder.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}
