package pdf

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"deedkeep/app/wasm"

	"github.com/tetratelabs/wazero/api"
)

// scratchSize is the size, in bytes, of the memory that each instance reserves for paths and small
// results.
const scratchSize = 64

// instance is a running instance of PDFium.
type instance struct {
	module  api.Module
	memory  api.Memory
	calls   map[string]api.Function
	files   files
	scratch uint32 // address of scratchSize bytes
	dead    bool
}

// faultError reports that PDFium broke during a call: it trapped, aborted, or ran out of memory.
// The instance can't be used again.
type faultError struct {
	call  string
	cause error
}

func (e *faultError) Error() string { return e.call + ": " + e.cause.Error() }
func (e *faultError) Unwrap() error { return e.cause }

// catchFault runs work and returns its error. If work panics with a *faultError, it returns that.
// Nothing in a broken instance needs to be freed, so work needs no cleanup.
func catchFault(work func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *faultError:
			err = p
		default:
			panic(p)
		}
	}()
	return work()
}

// start instantiates PDFium and stores the instance in e.live. It does so before the first call
// because the host functions use e.live.
func start(ctx context.Context, e *Engine) (*instance, error) {
	in := &instance{calls: make(map[string]api.Function), files: newFiles()}
	e.live = in
	module, err := e.code.Instantiate(ctx)
	if err != nil {
		return nil, err
	}
	in.module, in.memory = module, module.Memory()
	return in, catchFault(func() error {
		for _, name := range []string{"emscripten_stack_init", "__wasm_call_ctors", "FPDF_InitLibrary"} {
			in.call(ctx, name)
		}
		in.scratch = in.alloc(ctx, scratchSize)
		return nil
	})
}

// call calls an exported function whose parameters are i32. It returns the function's result, or 0
// if the function has no result. If PDFium breaks, call panics with a *faultError.
func (in *instance) call(ctx context.Context, name string, args ...uint32) uint32 {
	var buffer [12]uint64
	stack := buffer[:max(len(args), 1)]
	for i, arg := range args {
		stack[i] = uint64(arg)
	}
	return in.callStack(ctx, name, stack)
}

// callStack is like call for parameters of any type. stack contains them in wazero's encoding and
// must have space for one result.
func (in *instance) callStack(ctx context.Context, name string, stack []uint64) uint32 {
	f, known := in.calls[name]
	if !known {
		if f = in.module.ExportedFunction(name); f == nil {
			panic(&faultError{name, errors.New("function not exported")})
		}
		in.calls[name] = f
	}
	if err := f.CallWithStack(ctx, stack); err != nil {
		panic(&faultError{name, err})
	}
	if len(f.Definition().ResultTypes()) == 0 {
		return 0
	}
	return uint32(stack[0])
}

// alloc returns the address of n bytes of memory.
func (in *instance) alloc(ctx context.Context, n uint32) uint32 {
	address := in.call(ctx, "malloc", n)
	if address == 0 {
		panic(&faultError{"malloc", errors.New("out of memory")})
	}
	return address
}

// read returns the n bytes of memory at address. They are valid until the next call.
func (in *instance) read(address, n uint32) []byte {
	b, ok := in.memory.Read(address, n)
	if !ok {
		panic(&faultError{"read", wasm.ErrOutOfBounds})
	}
	return b
}

// cString writes a short string and a terminating zero to the scratch memory and returns its
// address.
func (in *instance) cString(s string) uint32 {
	copy(in.read(in.scratch, scratchSize), s+"\x00")
	return in.scratch
}

// floats reads n 32-bit floats from the scratch memory.
func (in *instance) floats(n int) []float64 {
	values, raw := make([]float64, n), in.read(in.scratch, uint32(4*n))
	for i := range values {
		values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	return values
}

// doubles reads n 64-bit floats from the scratch memory.
func (in *instance) doubles(n int) []float64 {
	values, raw := make([]float64, n), in.read(in.scratch, uint32(8*n))
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return values
}
