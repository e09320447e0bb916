package ocr

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/table"
)

// invokeFuncs are the functions that call a function of Tesseract's table and catch a longjmp in it
// (invoke_* in Emscripten). The first parameter is the index in the table. wazero's helper for
// Emscripten doesn't recognize them by their minified names.
var invokeFuncs = map[string]bool{
	"b": true, "c": true, "d": true, "e": true, "f": true, "g": true, "h": true, "i": true, "j": true, "q": true, "r": true,
}

// errLongjmp is the panic that implements longjmp.
var errLongjmp = errors.New("longjmp")

func longjmp(api.Memory, []uint64) int32 { panic(errLongjmp) }

// invoke returns a function that calls the function in the table. If that throws a longjmp, it
// restores the stack and sets a flag that the caller checks.
func (e *Engine) invoke(f api.FunctionDefinition) api.GoModuleFunc {
	params, results := f.ParamTypes()[1:], f.ResultTypes()
	return func(ctx context.Context, m api.Module, stack []uint64) {
		called := table.LookupFunction(m, 0, uint32(stack[0]), params, results)
		copy(stack, stack[1:])
		saved := e.Live.Call(ctx, "stackSave")
		err := called.CallWithStack(ctx, stack)
		if err == nil {
			return
		}
		if !errors.Is(err, errLongjmp) {
			panic(err)
		}
		e.Live.Call(ctx, "stackRestore", saved)
		e.Live.Call(ctx, "setThrew", 1, 0)
	}
}
