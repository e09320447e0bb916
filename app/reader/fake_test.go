package reader

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/web"
)

// FakeArg is the word that makes the test binary a child of a bad kind.
const FakeArg = "fake-child"

// Fake is a child that behaves as the word after FakeArg says.
func Fake(args []string) int {
	mode, extra, _ := strings.Cut(args[2], "=")
	switch mode {
	case "dies":
		return 3
	case "without assets":
		must(serve(context.Background(), os.Stdin, os.Stdout, func() ([]byte, error) { return nil, web.ErrAssetsMissing }))
		return 0
	case "confined":
		must(confine(64 << 20))
		var held [][]byte // not touched: nothing becomes resident
		for range 64 {
			held = append(held, make([]byte, 16<<20))
		}
		must(os.WriteFile(extra, held[0][:1], 0o600))
		return 0
	case "silent":
		spin()
	case "other build":
		must(writeMessage(os.Stdout, frameHello, hello{"another"}))
		spin()
	case "wrong first word":
		must(writeFrame(os.Stdout, frameAsk, nil))
		spin()
	}
	must(writeMessage(os.Stdout, frameHello, hello{buildID()}))
	r := bufio.NewReader(os.Stdin)
	var buf []byte
	for _, want := range []byte{frameSetup, frameTask} {
		if kind, _, err := readFrame(r, &buf); err != nil || kind != want {
			return 4
		}
	}
	if mode == "crashes once" {
		if _, err := os.Stat(extra); err == nil {
			mode = "answers"
		} else {
			must(os.WriteFile(extra, nil, 0o600))
			mode = "crashes"
		}
	}
	misbehave(mode, extra, r)
	return 0
}

// badFrames are what a child writes that has been taken over, instead of a
// verdict.
var badFrames = map[string]string{
	"endless frame":        "\xff\xff\xff\xffd",
	"empty frame":          "\x00\x00\x00\x00d",
	"unknown frame":        "\x00\x00\x00\x01?",
	"frame of the parent":  frame(frameBlock, "x"),
	"no JSON":              frame(frameDone, "{"),
	"control characters":   frame(frameDone, `{"refusal":"a\u001b[2Jb"}`),
	"negative pages":       frame(frameDone, `{"pages":-1}`),
	"fault without a word": frame(frameFault, `{}`),
	"ask beyond the end":   frame(frameAsk, string(encodeAsk(1<<40, 1))),
	"ask over the end":     frame(frameAsk, string(encodeAsk(0, 100))),
	"ask before the start": frame(frameAsk, string(encodeAsk(-1, 1))),
	"ask for nothing":      frame(frameAsk, string(encodeAsk(0, 0))),
	"ask for too much":     frame(frameAsk, string(encodeAsk(0, 1<<31))),
}

// BadFrames are the names of children that break the protocol.
func BadFrames() []string { return slices.Sorted(maps.Keys(badFrames)) }

func frame(kind byte, content string) string {
	return string(sealFrame(append(make([]byte, headerSize), content...), kind))
}

func misbehave(mode, extra string, r *bufio.Reader) {
	if bad, ok := badFrames[mode]; ok {
		_, err := os.Stdout.WriteString(bad)
		must(err)
		waitForEnd(r)
		return
	}
	switch mode {
	case "crashes":
		os.Exit(5)
	case "spins":
		spin()
	case "says who and spins":
		must(os.WriteFile(extra+".new", []byte(strconv.Itoa(os.Getpid())), 0o600))
		must(os.Rename(extra+".new", extra))
		spin()
	case "answers and leaves":
		must(writeMessage(os.Stdout, frameDone, done{MIME: "x/y"}))
		os.Exit(0)
	case "answers":
		pages := 7
		must(writeMessage(os.Stdout, frameDone, done{MIME: "x/y", Pages: &pages}))
		waitForEnd(r)
	case "swells":
		swell()
	case "asks for ever":
		var buf []byte
		for {
			must(writeFrame(os.Stdout, frameAsk, encodeAsk(0, 1)))
			if _, _, err := readFrame(r, &buf); err != nil {
				os.Exit(6)
			}
		}
	}
}

// swell takes memory and uses it, a MiB at a time.
func swell() {
	var held [][]byte
	for range 1 << 20 {
		held = append(held, bytes.Repeat([]byte{1}, 1<<20))
	}
	must(os.WriteFile(os.DevNull, held[0], 0o600))
}

// spin works without end and without a call, as an engine does.
func spin() {
	for n := uint(0); ; n++ {
		_ = n
	}
}

func waitForEnd(r io.Reader) {
	_, err := io.Copy(io.Discard, r)
	must(err)
}

func must(err error) {
	if err != nil {
		os.Exit(7)
	}
}

// WithGreeting sets how long a child may take to say its first word.
func (o Options) WithGreeting(d time.Duration) Options {
	o.greeting = d
	return o
}
