package wasm

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Instance is a running instance of an engine.
type Instance struct {
	Memory api.Memory

	module api.Module
	names  map[string]string // see Options.Exports
	calls  map[string]api.Function
}

// Instantiate returns a new instance. It doesn't call any of its functions.
func (e *Engine) Instantiate(ctx context.Context) (*Instance, error) {
	module, err := e.Runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, reserve), e.Module, instanceConfig())
	if err != nil {
		return nil, err
	}
	return &Instance{Memory: module.Memory(), module: module, names: e.exports, calls: make(map[string]api.Function)}, nil
}

func instanceConfig() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions()
}

// Link returns an instance of another module. The module imports, under the given name, what in
// exports. The caller must close it before in.
func (e *Engine) Link(ctx context.Context, module wazero.CompiledModule, name string, in *Instance) (api.Module, error) {
	ctx = experimental.WithImportResolver(ctx, func(wanted string) api.Module {
		if wanted == name {
			return in.module
		}
		return nil
	})
	return e.Runtime.InstantiateModule(ctx, module, instanceConfig())
}

// Close closes the instance and frees its memory.
func (in *Instance) Close(ctx context.Context) error { return in.module.Close(ctx) }

// FaultError reports that an engine broke during a call: it trapped, aborted, or ran out of memory.
// The instance can't be used again.
type FaultError struct {
	Call  string
	Cause error
}

func (e *FaultError) Error() string { return e.Call + ": " + e.Cause.Error() }
func (e *FaultError) Unwrap() error { return e.Cause }

// CatchFault runs work and returns its error. If work panics with a *FaultError, it returns that.
// Nothing in a broken instance needs to be freed, so work needs no cleanup.
func CatchFault(work func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *FaultError:
			err = p
		default:
			panic(p)
		}
	}()
	return work()
}

// maxParams is the number of parameters for which Call allocates no memory.
const maxParams = 12

// Call calls an exported function whose parameters are i32. It returns the function's result, or 0
// if the function has no result. If the engine breaks, Call panics with a *FaultError.
func (in *Instance) Call(ctx context.Context, name string, args ...uint32) uint32 {
	var buffer [maxParams]uint64
	stack := buffer[:max(len(args), 1)]
	for i, arg := range args {
		stack[i] = uint64(arg)
	}
	return in.CallStack(ctx, name, stack)
}

// CallStack is like Call for parameters of any type. stack contains them in wazero's encoding and
// must have space for one result.
func (in *Instance) CallStack(ctx context.Context, name string, stack []uint64) uint32 {
	f, known := in.calls[name]
	if !known {
		if f = in.module.ExportedFunction(cmp.Or(in.names[name], name)); f == nil {
			panic(&FaultError{name, errors.New("function not exported")})
		}
		in.calls[name] = f
	}
	if err := f.CallWithStack(ctx, stack); err != nil {
		panic(&FaultError{name, err})
	}
	if len(f.Definition().ResultTypes()) == 0 {
		return 0
	}
	return uint32(stack[0])
}

// Alloc returns the address of n bytes of memory, or panics with a *FaultError.
func (in *Instance) Alloc(ctx context.Context, n int) uint32 {
	address := uint32(0)
	if n <= math.MaxInt32 {
		address = in.Call(ctx, "malloc", uint32(n))
	}
	if address == 0 {
		panic(&FaultError{"malloc", errors.New("out of memory")})
	}
	return address
}

// Read returns the n bytes of memory at address, or panics with a *FaultError. They are valid until
// the next call.
func (in *Instance) Read(address, n uint32) []byte {
	b, ok := in.Memory.Read(address, n)
	if !ok {
		panic(&FaultError{"read", ErrOutOfBounds})
	}
	return b
}
