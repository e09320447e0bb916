package pdf

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
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

// start instantiates PDFium and stores the instance in e.live. It does so before the first call
// because the host functions use e.live.
func start(ctx context.Context, e *Engine) (*instance, error) {
	in := &instance{calls: make(map[string]api.Function), files: newFiles()}
	e.live = in
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	module, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, reserve), e.module, config)
	if err != nil {
		return nil, err
	}
	in.module, in.memory = module, module.Memory()
	for _, name := range []string{"emscripten_stack_init", "__wasm_call_ctors", "FPDF_InitLibrary"} {
		if _, err := in.call(ctx, name); err != nil {
			return nil, err
		}
	}
	in.scratch, err = in.call(ctx, "malloc", scratchSize)
	if err != nil {
		return nil, err
	}
	if in.scratch == 0 {
		return nil, errors.New("malloc: no memory")
	}
	return in, nil
}

// call calls an exported function whose parameters are i32. It returns the function's result, or 0
// if the function has no result. Its errors are of type *faultError.
func (in *instance) call(ctx context.Context, name string, args ...uint32) (uint32, error) {
	var buffer [12]uint64
	stack := buffer[:max(len(args), 1)]
	for i, arg := range args {
		stack[i] = uint64(arg)
	}
	return in.callStack(ctx, name, stack)
}

// callStack is like call for parameters of any type. stack contains them in wazero's encoding and
// must have space for one result.
func (in *instance) callStack(ctx context.Context, name string, stack []uint64) (uint32, error) {
	f, known := in.calls[name]
	if !known {
		if f = in.module.ExportedFunction(name); f == nil {
			return 0, &faultError{name, errors.New("not exported")}
		}
		in.calls[name] = f
	}
	if err := f.CallWithStack(ctx, stack); err != nil {
		return 0, &faultError{name, err}
	}
	if len(f.Definition().ResultTypes()) == 0 {
		return 0, nil
	}
	return uint32(stack[0]), nil
}

// path writes s and a terminating zero to the scratch memory and returns its address.
func (in *instance) path(s string) (uint32, error) {
	if len(s) >= scratchSize || !in.memory.WriteString(in.scratch, s+"\x00") {
		return 0, fmt.Errorf("path of %d bytes does not fit", len(s))
	}
	return in.scratch, nil
}

// floats reads n 32-bit floats from the scratch memory.
func (in *instance) floats(n int) ([]float64, error) {
	values := make([]float64, n)
	for i := range values {
		v, ok := in.memory.ReadFloat32Le(in.scratch + uint32(4*i))
		if !ok {
			return nil, &faultError{"read scratch", errors.New("out of bounds")}
		}
		values[i] = float64(v)
	}
	return values, nil
}
