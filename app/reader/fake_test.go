package reader

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"os"
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

func misbehave(mode, extra string, r *bufio.Reader) {
	raw := func(b string) { _, err := os.Stdout.WriteString(b); must(err) }
	ask := func(at uint64, n uint32) {
		content := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, at), n)
		must(writeFrame(os.Stdout, frameAsk, content))
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
	case "swells":
		var held [][]byte
		for {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = 1
			}
			held = append(held, b)
			if len(held) == 1<<20 {
				return
			}
		}
	case "answers":
		pages := 7
		must(writeMessage(os.Stdout, frameDone, done{MIME: "x/y", Pages: &pages}))
		waitForEnd(r)
	case "endless frame":
		raw("\xff\xff\xff\xffd")
	case "empty frame":
		raw("\x00\x00\x00\x00d")
	case "unknown frame":
		raw("\x00\x00\x00\x01?")
	case "frame of the parent":
		must(writeFrame(os.Stdout, frameBlock, []byte("x")))
	case "no JSON":
		must(writeFrame(os.Stdout, frameDone, []byte("{")))
	case "control characters":
		must(writeMessage(os.Stdout, frameDone, done{Refusal: "a\x1b[2Jb"}))
	case "negative pages":
		n := -1
		must(writeMessage(os.Stdout, frameDone, done{Pages: &n}))
	case "ask beyond the end":
		ask(1<<40, 1)
	case "ask over the end":
		ask(0, 100)
	case "ask before the start":
		ask(1<<63, 1)
	case "ask for nothing":
		ask(0, 0)
	case "ask for too much":
		ask(0, 1<<31)
	case "asks for ever":
		var buf []byte
		for {
			ask(0, 1)
			if _, _, err := readFrame(r, &buf); err != nil {
				os.Exit(6)
			}
		}
	}
	waitForEnd(r)
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
