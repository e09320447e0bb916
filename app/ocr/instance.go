package ocr

import (
	"bytes"
	"context"
	"strings"

	"deedkeep/app/wasm"
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
	*wasm.Instance
	api uint32 // address of the TessBaseAPI
}

// lstmOnly is the only recognizer in this build: OEM_LSTM_ONLY.
const lstmOnly = 1

// start instantiates Tesseract with the languages.
func (e *Engine) start(ctx context.Context, languages []Language) error {
	module, err := e.Instantiate(ctx)
	if err != nil {
		return err
	}
	in := &instance{Instance: module}
	names := make([]string, len(languages))
	for i, l := range languages {
		names[i] = l.Name
		in.Files.Add("/"+l.Name+dataSuffix, bytes.NewReader(l.Data), int64(len(l.Data)))
	}
	e.current = in
	return e.Start(ctx, func() error {
		in.Call(ctx, "__wasm_call_ctors")
		in.api = in.Call(ctx, "TessBaseAPI")
		path, language := in.cString(ctx, "/"), in.cString(ctx, strings.Join(names, "+"))
		if in.Call(ctx, "Init_3", in.api, path, language, lstmOnly) != 0 {
			return ErrLanguage
		}
		return nil
	})
}

// cString returns the address of a copy of s that ends with a zero.
func (in *instance) cString(ctx context.Context, s string) uint32 {
	address := in.Alloc(ctx, len(s)+1)
	copy(in.Read(address, uint32(len(s)+1)), s+"\x00")
	return address
}

// maxTable is the maximum size of a table of words in bytes.
const maxTable = 16 << 20

// text returns a copy of the zero-terminated string at address.
func (in *instance) text(address uint32) string {
	size := in.Memory.Size() - min(in.Memory.Size(), address)
	b := in.Read(address, min(size, maxTable))
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		panic(&wasm.FaultError{Call: "GetTSVText_1", Cause: wasm.ErrOutOfBounds})
	}
	return string(b[:end])
}
