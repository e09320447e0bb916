package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Instance is a running instance of an engine.
type Instance struct {
	Memory api.Memory
	Files  Files
	Closed bool // whether it was dropped

	module api.Module
	linked api.Module        // see Link; nil if there is none
	names  map[string]string // see Options.Exports
	calls  map[string]api.Function
}

// Instantiate stores a new instance in Live. It doesn't call any of its functions.
func (e *Engine) Instantiate(ctx context.Context) (*Instance, error) {
	module, err := e.Runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, reserve), e.Module, instanceConfig())
	if err != nil {
		return nil, err
	}
	e.Live = &Instance{Memory: module.Memory(), module: module, names: e.exports, calls: make(map[string]api.Function)}
	return e.Live, nil
}

// Memory returns the size of the memory of the instance in bytes, or 0 if there is none.
func (e *Engine) Memory() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Live == nil {
		return 0
	}
	return int64(e.Live.Memory.Size())
}

// Broken returns the number of instances that were dropped because content broke them.
func (e *Engine) Broken() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.broken
}

// Run runs work, which uses Live, and returns its error. If work fails with a FaultError or panics with
// one, Run drops the instance. Nothing in a broken instance needs to be freed, so work needs no cleanup. The
// caller must have called Lock.
func (e *Engine) Run(ctx context.Context, work func() error) error {
	err := catchFault(work)
	var fault *FaultError
	if errors.As(err, &fault) {
		e.broken++
		if dropped := e.Drop(ctx); dropped != nil {
			return fmt.Errorf("close engine: %w", dropped)
		}
	}
	return err
}

// Start runs work, which initializes the new instance in Live. If work fails, Start drops it. The caller must
// have called Lock.
func (e *Engine) Start(ctx context.Context, work func() error) error {
	if err := catchFault(work); err != nil {
		return errors.Join(err, e.Drop(ctx))
	}
	return nil
}

// Drop closes the instance and frees its memory. The caller must have called Lock.
func (e *Engine) Drop(ctx context.Context) (err error) {
	in := e.Live
	e.Live = nil
	if in == nil {
		return nil
	}
	in.Closed = true
	if in.linked != nil {
		err = in.linked.Close(ctx)
	}
	return errors.Join(err, in.module.Close(ctx))
}

// OnFiles returns a function that calls do with the files of the instance that is live at the time of
// the call.
func (e *Engine) OnFiles(do func(*Files, api.Memory, []uint64) int32) HostFunc {
	return func(m api.Memory, args []uint64) int32 { return do(&e.Live.Files, m, args) }
}

func instanceConfig() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions()
}

// Link returns an instance of another module, which Drop closes, too. The module imports, under the
// given name, what Live exports.
func (e *Engine) Link(ctx context.Context, module wazero.CompiledModule, name string) (_ api.Module, err error) {
	in := e.Live
	ctx = experimental.WithImportResolver(ctx, func(wanted string) api.Module {
		if wanted == name {
			return in.module
		}
		return nil
	})
	in.linked, err = e.Runtime.InstantiateModule(ctx, module, instanceConfig())
	return in.linked, err
}

// FaultError reports that an engine broke during a call: it trapped, aborted, or ran out of memory.
// The instance can't be used again.
type FaultError struct {
	Call  string
	Cause error
}

func (e *FaultError) Error() string { return e.Call + ": " + e.Cause.Error() }
func (e *FaultError) Unwrap() error { return e.Cause }

// catchFault runs work and returns its error. If work panics with a *FaultError, it returns that.
func catchFault(work func() error) (err error) {
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
