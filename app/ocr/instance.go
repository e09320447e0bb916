package ocr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"deedkeep/app/wasm"

	"github.com/tetratelabs/wazero/api"
)

// exports maps Tesseract's functions to the names that the minifier of the pinned build has chosen
// (the export object in tesseract-core-simd-lstm.js). Numbers in names count parameters.
var exports = map[string]string{
	"__wasm_call_ctors":     "U",
	"malloc":                "xf",
	"free":                  "wf",
	"TessBaseAPI":           "Kc",
	"Init_3":                "ad",
	"SetVariable_2":         "Tc",
	"SetPageSegMode_1":      "gd",
	"SetImage_5":            "ld",
	"SetSourceResolution_1": "nd",
	"Recognize_1":           "Ed",
	"GetTSVText_1":          "Ld",
	"Clear_0":               "Rd",
	"setThrew":              "Af",
	"stackRestore":          "Bf",
	"stackSave":             "Cf",
}

// instance is a running Tesseract with its languages.
type instance struct {
	module  api.Module
	memory  api.Memory
	calls   map[string]api.Function
	files   map[string][]byte // by path
	handles []*handle
	api     uint32 // address of the TessBaseAPI
}

// faultError reports that Tesseract broke during a call: it trapped, aborted, or ran out of memory.
// The instance can't be used again.
type faultError struct {
	call  string
	cause error
}

func (e *faultError) Error() string { return "Tesseract: " + e.call + ": " + e.cause.Error() }
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

// lstmOnly is the only recognizer in this build: OEM_LSTM_ONLY.
const lstmOnly = 1

// start instantiates Tesseract with the languages and stores the instance in e.live. It does so
// before the first call because the host functions use e.live.
func (e *Engine) start(ctx context.Context, languages []Language) error {
	in := &instance{calls: make(map[string]api.Function), files: make(map[string][]byte)}
	names := make([]string, len(languages))
	for i, l := range languages {
		names[i] = l.Name
		in.files["/"+l.Name+dataSuffix] = l.Data
	}
	e.live = in
	module, err := e.code.Instantiate(ctx)
	if err != nil {
		return err
	}
	in.module, in.memory = module, module.Memory()
	return catchFault(func() error {
		in.call(ctx, "__wasm_call_ctors")
		in.api = in.call(ctx, "TessBaseAPI")
		path, language := in.cString(ctx, "/"), in.cString(ctx, strings.Join(names, "+"))
		if in.call(ctx, "Init_3", in.api, path, language, lstmOnly) != 0 {
			return ErrLanguage
		}
		return nil
	})
}

// call calls a function whose parameters are i32. It returns the function's result, or 0 if the
// function has no result. If Tesseract breaks, call panics with a *faultError.
func (in *instance) call(ctx context.Context, name string, args ...uint32) uint32 {
	f, known := in.calls[name]
	if !known {
		if f = in.module.ExportedFunction(exports[name]); f == nil {
			panic(&faultError{name, errors.New("function not exported")})
		}
		in.calls[name] = f
	}
	var buffer [8]uint64
	stack := buffer[:max(len(args), 1)]
	for i, arg := range args {
		stack[i] = uint64(arg)
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
func (in *instance) alloc(ctx context.Context, n int) uint32 {
	address := uint32(0)
	if n <= math.MaxInt32 {
		address = in.call(ctx, "malloc", uint32(n))
	}
	if address == 0 {
		panic(&faultError{"malloc", errors.New("out of memory")})
	}
	return address
}

// bytes returns the n bytes of memory at address. They are valid until the next call.
func (in *instance) bytes(address, n uint32) []byte {
	b, ok := in.memory.Read(address, n)
	if !ok {
		panic(&faultError{"read", wasm.ErrOutOfBounds})
	}
	return b
}

// cString returns the address of a copy of s that ends with a zero.
func (in *instance) cString(ctx context.Context, s string) uint32 {
	address := in.alloc(ctx, len(s)+1)
	copy(in.bytes(address, uint32(len(s)+1)), s+"\x00")
	return address
}

// set sets a parameter of Tesseract.
func (in *instance) set(ctx context.Context, name, value string) error {
	n, v := in.cString(ctx, name), in.cString(ctx, value)
	ok := in.call(ctx, "SetVariable_2", in.api, n, v)
	in.call(ctx, "free", n)
	in.call(ctx, "free", v)
	if ok == 0 {
		return fmt.Errorf("Tesseract has no parameter %s", name)
	}
	return nil
}

// maxTable is the maximum size of a table of words in bytes.
const maxTable = 16 << 20

// text returns a copy of the zero-terminated string at address.
func (in *instance) text(address uint32) string {
	size := in.memory.Size() - min(in.memory.Size(), address)
	b := in.bytes(address, min(size, maxTable))
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		panic(&faultError{"GetTSVText_1", wasm.ErrOutOfBounds})
	}
	return string(b[:end])
}
