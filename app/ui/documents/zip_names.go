package documents

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// zipNames gives each document a name in the zip: one that every system can unpack,
// unlike any other and any folder of it, whatever the case. Where their names do not
// sort as the documents are ordered, a number goes before each, so that they stay in
// order when unpacked.
func zipNames(list []zipEntry) []string {
	width := 0
	if !slices.IsSortedFunc(list, func(a, b zipEntry) int {
		return strings.Compare(strings.ToLower(zipPath(a, 0, 0)), strings.ToLower(zipPath(b, 0, 0)))
	}) {
		width = max(2, len(fmt.Sprint(len(list))))
	}
	names, taken := make([]string, len(list)), map[string]bool{}
	for i, entry := range list {
		names[i] = zipPath(entry, i+1, width)
		for folder := path.Dir(strings.ToLower(names[i])); folder != "." && !taken[folder]; folder = path.Dir(folder) {
			taken[folder] = true
		}
	}
	next := map[string]int{} // by name: the number that those before have left
	for i, whole := range names {
		name, low, ext := whole, strings.ToLower(whole), path.Ext(whole)
		n := max(2, next[low])
		for ; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(whole, ext), n, ext)
		}
		next[low] = n
		taken[strings.ToLower(name)] = true
		names[i] = name
	}
	return names
}

// zipPath is the path of a document in the zip, with its number where width says how
// many digits that has.
func zipPath(entry zipEntry, n, width int) string {
	var parts []string
	for _, folder := range entry.Folder {
		parts = append(parts, safeName(folder))
	}
	name := safeName(entry.File.Filename)
	if width > 0 && len(entry.Folder) == 0 {
		name = fmt.Sprintf("%0*d %s", width, n, name)
	}
	return path.Join(append(parts, name)...)
}

// maxZipName is how many bytes a name in a zip has; file systems end at 255.
const maxZipName = 180

// safeName makes any text a name that Windows, macOS and Linux can give a file: no
// separators, no controls and none that only turn the writing around, no device
// names, no blank or dot at its ends (Microsoft, "Naming Files, Paths, and
// Namespaces"). An extension stays.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`<>:"/\|?*`, r):
			return '_'
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, name)
	if len(name) > maxZipName {
		ext := path.Ext(name)
		if len(ext) > 10 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:maxZipName-len(ext)], "") + ext
	}
	name = strings.TrimRight(strings.TrimLeft(name, " "), " .")
	if name == "" || strings.Trim(name, ".") == "" {
		name = "unnamed"
	}
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	if isReservedName(strings.TrimSpace(stem)) {
		name = "_" + name
	}
	return name
}

// isReservedName reports whether Windows takes a name for a device; the raised digits are
// some of its code page 1252.
func isReservedName(stem string) bool {
	if slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}, stem) {
		return true
	}
	port, digit := strings.CutPrefix(stem, "COM")
	if !digit {
		port, digit = strings.CutPrefix(stem, "LPT")
	}
	number, size := utf8.DecodeRuneInString(port)
	return digit && size > 0 && size == len(port) && strings.ContainsRune("0123456789¹²³", number)
}
