package document

import "strings"

// Extension returns what follows the last dot of filename in lower case and
// without the dot ("tif" for "Deed.TIF", "" where there is none), and whether
// it is of the accepted list (SPEC.md, and tif as API.md has it).
func Extension(filename string) (ext string, ok bool) {
	dot := strings.LastIndexByte(filename, '.')
	if dot < 0 {
		return "", false
	}
	ext = strings.ToLower(filename[dot+1:])
	_, ok = kinds[ext]
	return ext, ok
}
