package secret

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"
)

// A password is stored as an argon2id hash (RFC 9106) in PHC string format:
//
//	$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>
//	          |    |       |   |   |      32 bytes } base64 without padding
//	          |    |       |   |   16 bytes        } (RFC 4648, section 4)
//	          |    |       |   lanes, 1–4
//	          |    |       passes, 1–10
//	          |    KiB of memory, 8 × lanes – 65,536
//	          version 1.3 of Argon2
//
// Salts of 8 to 64 bytes and hashes of 16 to 64 bytes are also accepted. Each hash has
// only one valid form: numbers have no leading zeros, and base64 has no unused bits set.
type phc struct {
	memory, time uint32
	lanes        uint8
	salt, hash   []byte
}

// Argon2Params is the cost of computing a password hash.
type Argon2Params struct {
	Memory uint32 // KiB
	Passes uint32
	Lanes  uint8
}

// DefaultArgon2Params returns 19 MiB of memory and two passes, a configuration that OWASP
// recommends.
func DefaultArgon2Params() Argon2Params { return Argon2Params{Memory: 19 * 1024, Passes: 2, Lanes: 1} }

const (
	passwordSalt = 16
	passwordHash = 32
)

const (
	phcPrefix           = "$argon2id$v=19$"
	maxMemory           = 64 * 1024 // KiB
	maxPasses           = 10
	maxLanes            = 4
	maxConcurrentHashes = 2         // each needs up to maxMemory
	maxGarbage          = 48 * 1024 // KiB; more than the memory of two hashes with DefaultArgon2Params
)

var errInvalidPHC = errors.New("password hash is not argon2id in PHC format")

// ErrBusy means that the queue is full, or that the wait exceeded QueueLimits.MaxWait.
var ErrBusy = errors.New("too many password checks in progress")

// Passwords hashes and verifies passwords, two at a time. With DefaultArgon2Params, each
// takes 19 MiB and up to 100 ms. Other requests wait in a queue that is fair between their
// owners. Passwords is safe for concurrent use.
//
// The memory of a hash is garbage afterward. Passwords collects it before it exceeds
// maxGarbage, because otherwise the heap grows with its garbage collection target. The
// caller returns the rest with ReleaseMemory.
type Passwords struct {
	rand      io.Reader
	params    Argon2Params
	queue     *fairQueue
	hashCount atomic.Uint64
	garbage   atomic.Uint32 // KiB that hashes have used since the last collection
}

// NewPasswords returns a Passwords that reads salts from rand and hashes with params.
func NewPasswords(rand io.Reader, params Argon2Params, limits QueueLimits) *Passwords {
	return &Passwords{rand: rand, params: params, queue: newFairQueue(maxConcurrentHashes, limits)}
}

// newPHC returns a phc with the current parameters and without a computed hash.
func (p *Passwords) newPHC() phc {
	return phc{
		memory: p.params.Memory, time: p.params.Passes, lanes: p.params.Lanes,
		salt: make([]byte, passwordSalt), hash: make([]byte, passwordHash),
	}
}

// HashCount returns the number of hashes computed so far. Tests use it to check that all
// code paths take the same time.
func (p *Passwords) HashCount() uint64 { return p.hashCount.Load() }

// Hash returns the hash of a password in PHC format. It returns ErrBusy, or an error from
// rand or ctx.
func (p *Passwords) Hash(ctx context.Context, from Requester, password string) (string, error) {
	h := p.newPHC()
	if _, err := io.ReadFull(p.rand, h.salt); err != nil {
		return "", fmt.Errorf("generate salt: %w", err)
	}
	hash, err := p.hash(ctx, from, h, password)
	if err != nil {
		return "", err
	}
	h.hash = hash
	return h.String(), nil
}

// Verify reports whether the password matches the hash. stale reports whether the hash
// should be replaced because the parameters have changed since it was computed. An empty
// hash means that the user doesn't exist or has no password. It takes the same time and
// never matches. An invalid hash is an error.
func (p *Passwords) Verify(ctx context.Context, from Requester, hash, password string) (matches, stale bool, err error) {
	h := p.newPHC()
	if hash != "" {
		if h, err = parsePHC(hash); err != nil {
			return false, false, err
		}
	}
	got, err := p.hash(ctx, from, h, password)
	if err != nil {
		return false, false, err
	}
	matches = subtle.ConstantTimeCompare(got, h.hash) == 1 && hash != ""
	return matches, matches && !h.hasParams(p.params), nil
}

// hash computes the hash of a password with the parameters, salt, and hash length of h.
func (p *Passwords) hash(ctx context.Context, from Requester, h phc, password string) ([]byte, error) {
	if err := p.queue.acquire(ctx, from); err != nil {
		return nil, err
	}
	start := time.Now()
	defer func() { p.queue.release(from.Owner, time.Since(start)) }()
	p.hashCount.Add(1)
	if garbage := p.garbage.Add(h.memory); garbage > maxGarbage && p.garbage.CompareAndSwap(garbage, h.memory) {
		runtime.GC()
	}
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.lanes, uint32(len(h.hash))), nil
}

// ReleaseMemory returns the memory of the previous hashes to the operating system, unless
// passwords are being hashed.
func (p *Passwords) ReleaseMemory() {
	if p.garbage.Load() > 0 && p.queue.idle() {
		p.garbage.Store(0)
		debug.FreeOSMemory()
	}
}

func (p phc) hasParams(c Argon2Params) bool {
	return p.memory == c.Memory && p.time == c.Passes && p.lanes == c.Lanes &&
		len(p.salt) == passwordSalt && len(p.hash) == passwordHash
}

func (p phc) String() string {
	return fmt.Sprintf("%sm=%d,t=%d,p=%d$%s$%s", phcPrefix, p.memory, p.time, p.lanes,
		base64Std.EncodeToString(p.salt), base64Std.EncodeToString(p.hash))
}

// parsePHC parses the result of String. It limits the parameters so that a manipulated
// record can't consume a gigabyte of memory.
func parsePHC(text string) (h phc, err error) {
	rest, _ := strings.CutPrefix(text, phcPrefix)
	parts := strings.Split(rest, "$")
	if len(parts) != 3 {
		return h, errInvalidPHC
	}
	_, err = fmt.Sscanf(parts[0], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.lanes)
	var err1, err2 error
	h.salt, err1 = base64Std.DecodeString(parts[1])
	h.hash, err2 = base64Std.DecodeString(parts[2])
	if err != nil || err1 != nil || err2 != nil || h.String() != text ||
		h.time < 1 || h.time > maxPasses || h.lanes < 1 || h.lanes > maxLanes || h.memory < 8*uint32(h.lanes) || h.memory > maxMemory ||
		len(h.salt) < 8 || len(h.salt) > 64 || len(h.hash) < 16 || len(h.hash) > 64 {
		return phc{}, errInvalidPHC
	}
	return h, nil
}
