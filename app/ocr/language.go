package ocr

import (
	"encoding/binary"
	"errors"
)

// Language is Tesseract's data for a language.
type Language struct {
	Name string // such as "eng"
	Data []byte // content of the file <name>.traineddata
}

// dataSuffix is the extension of a language data file.
const dataSuffix = ".traineddata"

// MaxLanguageSize is the maximum size of language data in bytes. The largest file that Tesseract's
// authors publish is 30 MB.
const MaxLanguageSize = 48 << 20

// Errors for language data files.
var (
	ErrNoLanguage    = errors.New("the file is not Tesseract language data")
	ErrNoModel       = errors.New("the language data has no LSTM model; use a file from tessdata_fast or tessdata_best")
	ErrLanguage      = errors.New("language data that Tesseract can't read")
	ErrLanguageLarge = errors.New("the language data is too large")
)

// check returns an error if the header of the data is wrong: a 32-bit number of entries, and for
// each entry a 64-bit offset, or -1 if it's missing.
func (l Language) check() error {
	const (
		maxEntries = 24
		modelEntry = 17 // TESSDATA_LSTM
	)
	if len(l.Data) > MaxLanguageSize {
		return ErrLanguageLarge
	}
	if len(l.Data) < 4 {
		return ErrNoLanguage
	}
	n := binary.LittleEndian.Uint32(l.Data)
	if n == 0 || n > maxEntries || len(l.Data) < 4+8*int(n) {
		return ErrNoLanguage
	}
	last, model := int64(4+8*n), false
	for i := range int(n) {
		offset := int64(binary.LittleEndian.Uint64(l.Data[4+8*i:]))
		if offset == -1 {
			continue
		}
		if offset < last || offset > int64(len(l.Data)) {
			return ErrNoLanguage
		}
		last, model = offset, model || i == modelEntry
	}
	if !model {
		return ErrNoModel
	}
	return nil
}
