// Package strictyaml parses YAML files that people write by hand.
//
// It returns YAML nodes, because decoding into Go values would lose line numbers and repeated keys, which the callers
// report.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MaxSize is the maximum size of a file in bytes. Files written by hand are much smaller.
const MaxSize = 1 << 20

// ErrTooLong is the error of Read if the file is larger than MaxSize.
var ErrTooLong = errors.New("is longer than 1 MB")

// Read reads all of r.
func Read(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err == nil && len(text) > MaxSize {
		err = ErrTooLong
	}
	return text, err
}

// Error is a reason why a text isn't exactly one YAML document.
type Error struct {
	Line   int
	Reason string // message of the parser; "" if a second document begins at Line
}

// Error returns the reason with its line.
func (e *Error) Error() string { return e.Position("line") + ": " + e.Reason }

// Position returns the file name and the line number.
func (e *Error) Position(name string) string { return fmt.Sprintf("%s:%d", name, e.Line) }

// Parse returns the root node of text, or nil if text is empty. Syntax errors are of type *Error. If the error concerns
// what follows the first document, Parse also returns the root node of that document.
func Parse(text []byte) (*yaml.Node, error) {
	root, err := parse(text)
	if failed, ok := errors.AsType[*Error](err); ok && (failed.Line == 0 || strings.Contains(failed.Reason, "tab character")) {
		failed.Line = lineOf(text, failed.Reason)
	}
	return root, err
}

// lineOf returns the first line with which text fails for a reason. The parser reports no line for the first line, invalid
// characters, and anchors. For a tab, it reports the line before.
func lineOf(text []byte, reason string) int {
	lines := bytes.SplitAfter(text, []byte("\n"))
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, err := parse(bytes.Join(lines[:i+1], nil))
		failed, ok := errors.AsType[*Error](err)
		return ok && failed.Reason == reason
	})
}

// parse is like Parse, but with the line numbers of the parser.
func parse(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF) || err == nil && len(document.Content) != 1:
		return nil, nil
	case err != nil:
		return nil, syntaxError(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return document.Content[0], &Error{Line: second.Line}
	case !errors.Is(err, io.EOF):
		return document.Content[0], syntaxError(err)
	}
	return document.Content[0], nil
}

var lineNumber = regexp.MustCompile(`^line (\d+): (.*)`)

// syntaxError takes the line number from the parser's message, such as `yaml: line 3: did not find …`.
func syntaxError(err error) error {
	reason, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if found := lineNumber.FindStringSubmatch(reason); found != nil {
		line, _ = strconv.Atoi(found[1]) // digits
		reason = found[2]
	}
	return &Error{Line: line, Reason: reason}
}
