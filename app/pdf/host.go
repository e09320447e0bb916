package pdf

import (
	"context"
	"errors"

	"deedkeep/app/wasm"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/emscripten"
)

// hostFunc implements a function that PDFium imports. args are the function's i32 parameters. If
// the function has no result, the return value is ignored.
type hostFunc func(in *instance, m api.Memory, args []uint64) int32

const (
	env  = "env"
	wasi = "wasi_snapshot_preview1"
)

// hostFuncs contains the functions that PDFium may call, by module and name. Functions that would
// open other files, change a file, or start a process fail.
var hostFuncs = map[string]map[string]hostFunc{
	env: {
		"emscripten_date_now":    returns(0), // bits of the float 0.0
		"__syscall_openat":       openat,
		"__syscall_fstat64":      fstat,
		"__syscall_stat64":       stat,
		"__syscall_lstat64":      stat,
		"__syscall_newfstatat":   statat,
		"__syscall_fcntl64":      returns(0),
		"__syscall_ioctl":        returns(-wasm.ErrnoNoTTY),
		"__syscall_getdents64":   returns(-wasm.ErrnoBadFD),
		"__syscall_unlinkat":     returns(-wasm.ErrnoROFS),
		"__syscall_rmdir":        returns(-wasm.ErrnoROFS),
		"__syscall_ftruncate64":  returns(-wasm.ErrnoROFS),
		"_tzset_js":              utc,
		"_localtime_js":          epoch,
		"_gmtime_js":             epoch,
		"_emscripten_memcpy_js":  memcpy,
		"emscripten_resize_heap": resizeHeap,
		"_abort_js":              abort,
		"__assert_fail":          abort,
	},
	wasi: {
		"fd_close":          fdClose,
		"fd_read":           fdRead,
		"fd_seek":           fdSeek,
		"fd_write":          fdWrite,
		"fd_sync":           returns(0),
		"environ_sizes_get": environSizes,
		"environ_get":       returns(0),
	},
}

// exportHost instantiates the host modules with the function types that PDFium imports.
func (e *Engine) exportHost(ctx context.Context) error {
	jumps, err := emscripten.NewFunctionExporterForModule(e.code.Module)
	if err != nil {
		return err
	}
	for _, module := range []string{env, wasi} {
		builder := e.code.Runtime.NewHostModuleBuilder(module)
		if module == env {
			jumps.ExportFunctions(builder)
		}
		for _, f := range e.code.Module.ImportedFunctions() {
			from, name, _ := f.Import()
			do := hostFuncs[from][name]
			if from != module || do == nil {
				continue
			}
			builder.NewFunctionBuilder().
				WithGoModuleFunction(e.host(do, f), f.ParamTypes(), f.ResultTypes()).Export(name)
		}
		if _, err := builder.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// host returns a function that calls do with the instance that is live at the time of the call.
func (e *Engine) host(do hostFunc, f api.FunctionDefinition) api.GoModuleFunc {
	params, results := len(f.ParamTypes()), len(f.ResultTypes())
	return func(_ context.Context, m api.Module, stack []uint64) {
		result := do(e.live, m.Memory(), stack[:params])
		if results > 0 {
			stack[0] = uint64(uint32(result))
		}
	}
}

// returns creates a hostFunc that always has the given result.
func returns(result int32) hostFunc {
	return func(*instance, api.Memory, []uint64) int32 { return result }
}

var errAborted = errors.New("aborted")

// abort ends the current call into PDFium. wazero converts the panic to the error of that call.
func abort(*instance, api.Memory, []uint64) int32 { panic(errAborted) }

func memcpy(_ *instance, m api.Memory, a []uint64) int32 {
	copy(wasm.Bytes(m, a[0], a[2]), wasm.Bytes(m, a[1], a[2]))
	return 0
}

func resizeHeap(_ *instance, m api.Memory, a []uint64) int32 {
	if wasm.Grow(m, uint32(a[0])) {
		return 1
	}
	return 0
}

func environSizes(_ *instance, m api.Memory, a []uint64) int32 {
	wasm.Put32(m, a[0], 0)
	wasm.Put32(m, a[1], 0)
	return 0
}

// PDFium doesn't have a clock, so that the same document always has the same result. The time is
// always the start of 1970 in UTC (emscripten_date_now returns 0).

func utc(_ *instance, m api.Memory, a []uint64) int32 {
	wasm.Put32(m, a[0], 0) // seconds west of UTC
	wasm.Put32(m, a[1], 0) // no daylight saving time
	for _, name := range a[2:4] {
		copy(wasm.Bytes(m, name, 4), "UTC\x00")
	}
	return 0
}

// epoch fills a struct tm. Its fields are 32-bit numbers: sec, min, hour, mday, mon, year, wday,
// yday, isdst, and gmtoff.
func epoch(_ *instance, m api.Memory, a []uint64) int32 {
	for i, v := range []uint32{0, 0, 0, 1, 0, 70, 4, 0, 0, 0} {
		wasm.Put32(m, a[2]+uint64(4*i), v)
	}
	return 0
}
