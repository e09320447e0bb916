package ocr

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"deedkeep/app/wasm"

	"github.com/tetratelabs/wazero/api"
)

// hostFunc implements a function that Tesseract imports. args are the function's parameters. If the
// function has no result, the return value is ignored.
type hostFunc func(in *instance, m api.Memory, args []uint64) uint64

// hostModule is the module from which Tesseract imports all its functions.
const hostModule = "a"

// hostFuncs contains the functions that Tesseract may call. Their names are those that the minifier
// of the pinned build has chosen. Functions that aren't listed end the call: those that map files,
// change files, or throw C++ exceptions, and those for image decoders, which aren't used.
var hostFuncs = map[string]hostFunc{
	"l": fdWrite,
	"m": fdClose,
	"n": openat,
	"o": fdRead,
	"p": returns(0), // fcntl64
	"s": returns(0), // emscripten_asm_const_int: reports the progress
	"t": longjmp,
	"u": resizeHeap,
	"v": returns(-wasm.ErrnoROFS), // rmdir
	"w": returns(-wasm.ErrnoROFS), // unlinkat
	"A": epoch,                    // gmtime
	"B": epoch,                    // localtime
	"C": returns(0),               // mktime
	"D": utc,                      // tzset
	"E": fdSeek,
	"F": returns(0), // environ_get
	"G": environSizes,
	"H": returns(-wasm.ErrnoNoEnt), // getcwd
	"I": statat,
	"K": fstat,
	"L": returns(0), // date_now: bits of the float 0.0
	"M": clock,
	"O": returns(-wasm.ErrnoNoTTY), // ioctl
	"Q": returns(0),                // emscripten_fs_load_embedded_files: configurations that aren't used
}

// exportHost instantiates the host module with the function types that Tesseract imports.
func (e *Engine) exportHost(ctx context.Context) error {
	builder := e.code.Runtime.NewHostModuleBuilder(hostModule)
	for _, f := range e.code.Module.ImportedFunctions() {
		_, name, _ := f.Import()
		call := e.host(hostFuncs[name], f)
		if invokeFuncs[name] {
			call = e.invoke(f)
		}
		builder.NewFunctionBuilder().WithGoModuleFunction(call, f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// host returns a function that calls do with the instance that is live at the time of the call. If
// do is nil, it ends the call of Tesseract.
func (e *Engine) host(do hostFunc, f api.FunctionDefinition) api.GoModuleFunc {
	if do == nil {
		do = abort
	}
	params, results := len(f.ParamTypes()), len(f.ResultTypes())
	return func(_ context.Context, m api.Module, stack []uint64) {
		result := do(e.live, m.Memory(), stack[:params])
		if results > 0 {
			stack[0] = result
		}
	}
}

// returns creates a hostFunc that always has the given result.
func returns(result int32) hostFunc {
	return func(*instance, api.Memory, []uint64) uint64 { return i32(result) }
}

func i32(v int32) uint64 { return uint64(uint32(v)) }

var errAborted = errors.New("aborted")

// abort ends the current call into Tesseract. wazero converts the panic to the error of that call.
func abort(*instance, api.Memory, []uint64) uint64 { panic(errAborted) }

func resizeHeap(_ *instance, m api.Memory, a []uint64) uint64 {
	if wasm.Grow(m, uint32(a[0])) {
		return 1
	}
	return 0
}

func environSizes(_ *instance, m api.Memory, a []uint64) uint64 {
	wasm.Put32(m, a[0], 0)
	wasm.Put32(m, a[1], 0)
	return 0
}

// Tesseract doesn't have a clock, so that the same page always has the same result. The time is
// always the start of 1970 in UTC.

func utc(_ *instance, m api.Memory, a []uint64) uint64 {
	wasm.Put32(m, a[0], 0) // seconds west of UTC
	wasm.Put32(m, a[1], 0) // no daylight saving time
	for _, name := range a[2:4] {
		copy(wasm.Bytes(m, name, 4), "UTC\x00")
	}
	return 0
}

// epoch fills a struct tm. Its fields are 32-bit numbers: sec, min, hour, mday, mon, year, wday,
// yday, isdst, and gmtoff.
func epoch(_ *instance, m api.Memory, a []uint64) uint64 {
	for i, v := range []uint32{0, 0, 0, 1, 0, 70, 4, 0, 0, 0} {
		wasm.Put32(m, a[1]+uint64(4*i), v)
	}
	return 0
}

func clock(_ *instance, m api.Memory, a []uint64) uint64 {
	clear(wasm.Bytes(m, a[2], 8))
	return 0
}

// openat implements openat(directory, path, flags, mode). Only language data can be opened, and only
// for reading.
func openat(in *instance, m api.Memory, a []uint64) uint64 {
	const accessMode = 3
	if uint32(a[2])&accessMode != 0 {
		return i32(-wasm.ErrnoROFS)
	}
	content, found := in.files[wasm.CString(m, a[1])]
	if !found {
		return i32(-wasm.ErrnoNoEnt)
	}
	fd := firstFD + int32(len(in.handles))
	in.handles = append(in.handles, &handle{content: content})
	return i32(fd)
}

// firstFD is the first descriptor of a file. Those before are the standard streams, which aren't
// connected.
const firstFD = 3

// handle is an open file and its position.
type handle struct {
	content []byte
	pos     int64
}

// open returns the handle of an open file, or nil.
func (in *instance) open(fd uint64) *handle {
	if at := int64(int32(uint32(fd))) - firstFD; at >= 0 && at < int64(len(in.handles)) {
		return in.handles[at]
	}
	return nil
}

func fdClose(in *instance, _ api.Memory, a []uint64) uint64 {
	if in.open(a[0]) == nil {
		return wasm.ErrnoBadFD
	}
	in.handles[int32(uint32(a[0]))-firstFD] = nil
	return 0
}

// fstat implements fstat(fd, buffer).
func fstat(in *instance, m api.Memory, a []uint64) uint64 {
	h := in.open(a[0])
	if h == nil {
		return i32(-wasm.ErrnoBadFD)
	}
	wasm.PutStat(m, a[1], int64(len(h.content)))
	return 0
}

// statat implements fstatat(directory, path, buffer, flags).
func statat(in *instance, m api.Memory, a []uint64) uint64 {
	content, found := in.files[wasm.CString(m, a[1])]
	if !found {
		return i32(-wasm.ErrnoNoEnt)
	}
	wasm.PutStat(m, a[2], int64(len(content)))
	return 0
}

// fdRead implements fd_read(fd, vectors, count, sum).
func fdRead(in *instance, m api.Memory, a []uint64) uint64 {
	h := in.open(a[0])
	if h == nil {
		return wasm.ErrnoBadFD
	}
	sum := 0
	for _, p := range wasm.Vectors(m, a[1], a[2]) {
		n := copy(p, h.content[min(h.pos, int64(len(h.content))):])
		h.pos += int64(n)
		sum += n
	}
	wasm.Put32(m, a[3], uint32(sum))
	return 0
}

// fdWrite implements fd_write(fd, vectors, count, sum). It discards Tesseract's messages.
func fdWrite(_ *instance, m api.Memory, a []uint64) uint64 {
	sum := 0
	for _, p := range wasm.Vectors(m, a[1], a[2]) {
		sum += len(p)
	}
	wasm.Put32(m, a[3], uint32(sum))
	return 0
}

// fdSeek implements fd_seek(fd, offset, whence, position).
func fdSeek(in *instance, m api.Memory, a []uint64) uint64 {
	h := in.open(a[0])
	if h == nil {
		return wasm.ErrnoBadFD
	}
	const start, current, end = 0, 1, 2
	base := int64(0)
	switch uint32(a[2]) {
	case start:
	case current:
		base = h.pos
	case end:
		base = int64(len(h.content))
	default:
		return wasm.ErrnoInval
	}
	offset := int64(a[1])
	if offset > math.MaxInt32 || offset < math.MinInt32 || base+offset < 0 {
		return wasm.ErrnoInval
	}
	h.pos = base + offset
	binary.LittleEndian.PutUint64(wasm.Bytes(m, a[3], 8), uint64(h.pos))
	return 0
}
