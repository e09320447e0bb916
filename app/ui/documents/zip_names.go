package documents

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/vault"
)

// zipNames returns a name in the ZIP file for each document. All systems can unpack these names,
// and they are unique even if letter case is ignored. If sorting by name would change the sequence
// of the documents, each name starts with a number.
func zipNames(list []vault.Descendant) []string {
	width := 0
	if !slices.IsSortedFunc(list, func(a, b vault.Descendant) int {
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
	next := map[string]int{} // next number to try for each name
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

// zipPath returns the path of a document in the ZIP file. If width is not 0, the file name starts
// with n, padded to width digits.
func zipPath(entry vault.Descendant, n, width int) string {
	var parts []string
	for _, folder := range entry.Path {
		parts = append(parts, safeName(folder))
	}
	name := safeName(entry.File.Filename)
	if width > 0 && len(entry.Path) == 0 {
		name = fmt.Sprintf("%0*d %s", width, n, name)
	}
	return path.Join(append(parts, name)...)
}

// maxZipName is the maximum length of a file name in bytes. File systems allow 255.
const maxZipName = 180

// safeName returns a file name that is valid on Windows, macOS, and Linux: without separators,
// control characters, bidirectional controls, device names, and leading or trailing spaces and
// periods (Microsoft, "Naming Files, Paths, and Namespaces"). It keeps the extension.
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

// isReservedName reports whether Windows reserves the name for a device. The superscript digits are
// those of code page 1252.
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
