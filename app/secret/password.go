package secret

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/argon2"
)

// A password is kept as argon2id (RFC 9106) in the PHC string form:
//
//	$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>
//	          |    |       |   |   |      32 bytes } base64 without padding
//	          |    |       |   |   16 bytes        } (RFC 4648, section 4)
//	          |    |       |   lanes, 1–4
//	          |    |       passes, 1–10
//	          |    KiB of memory, 8 × lanes – 65,536
//	          version 1.3 of Argon2
//
// Read are also salts of 8 to 64 bytes and hashes of 16 to 64, numbers without
// zeros in front and base64 without stray bits: each hash has one spelling.
type phc struct {
	memory, time uint32
	lanes        uint8
	salt, hash   []byte
}

// Argon2Params is what the hash of a password takes to make, and to try.
type Argon2Params struct {
	Memory uint32 // KiB
	Passes uint32
	Lanes  uint8
}

// DefaultArgon2Params is 19 MiB and two passes, OWASP's second choice of equal strength.
func DefaultArgon2Params() Argon2Params { return Argon2Params{Memory: 19 * 1024, Passes: 2, Lanes: 1} }

const (
	passwordSalt = 16
	passwordHash = 32
)

const (
	phcHead    = "$argon2id$v=19$"
	mostMemory = 64 * 1024 // KiB that a record may ask for
	mostPasses = 10
	mostLanes  = 4
	mostRuns   = 2 // of argon2 at a time
)

var phcCoding = base64.RawStdEncoding.Strict()

var errNoPHC = errors.New("the hash of the password is not argon2id in its PHC form")

// ErrBusy is Hash's and Verify's when the queue is full, or the turn did not come in time.
var ErrBusy = errors.New("too many passwords are being checked")

// Passwords hashes and verifies, two at a time: at DefaultArgon2Params each takes 19 MiB and the
// better part of 100 ms. The others wait in a queue, in which owners take turns: an owner
// is an address that people sign in from. It is safe for concurrent use.
type Passwords struct {
	chance io.Reader
	cost   Argon2Params
	turns  *turns
	runs   atomic.Uint64
}

// NewPasswords draws salts from chance; what it hashes has the cost.
func NewPasswords(chance io.Reader, cost Argon2Params, queue QueueLimits) *Passwords {
	return &Passwords{chance: chance, cost: cost, turns: newTurns(mostRuns, queue)}
}

// fresh is a hash of today's cost before it is made.
func (p *Passwords) fresh() phc {
	return phc{memory: p.cost.Memory, time: p.cost.Passes, lanes: p.cost.Lanes, salt: make([]byte, passwordSalt), hash: make([]byte, passwordHash)}
}

// HashCount is how often argon2 has run: what a test of equal time counts.
func (p *Passwords) HashCount() uint64 { return p.runs.Load() }

// Hash gives the PHC form of a password. Its errors are those of chance and ctx, and ErrBusy.
func (p *Passwords) Hash(ctx context.Context, owner, password string) (string, error) {
	h := p.fresh()
	if _, err := io.ReadFull(p.chance, h.salt); err != nil {
		return "", fmt.Errorf("draw a salt: %w", err)
	}
	hash, err := p.run(ctx, owner, h, password)
	if err != nil {
		return "", err
	}
	h.hash = hash
	return h.String(), nil
}

// Verify reports whether the password is the one that was hashed, and whether its
// hash should be made anew because the cost has moved since. An empty hash stands for
// a user who has none or does not exist: it costs the same and never fits. A hash
// that cannot be read is an error.
func (p *Passwords) Verify(ctx context.Context, owner, hash, password string) (fits, stale bool, err error) {
	h := p.fresh()
	if hash != "" {
		if h, err = parsePHC(hash); err != nil {
			return false, false, err
		}
	}
	got, err := p.run(ctx, owner, h, password)
	if err != nil {
		return false, false, err
	}
	fits = subtle.ConstantTimeCompare(got, h.hash) == 1 && hash != ""
	return fits, fits && !h.costs(p.cost), nil
}

// run gives the hash of a password as h asks for it: as long as its own.
func (p *Passwords) run(ctx context.Context, owner string, h phc, password string) ([]byte, error) {
	if err := p.turns.take(ctx, owner); err != nil {
		return nil, err
	}
	defer p.turns.give(owner)
	p.runs.Add(1)
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.lanes, uint32(len(h.hash))), nil
}

func (h phc) costs(c Argon2Params) bool {
	return h.memory == c.Memory && h.time == c.Passes && h.lanes == c.Lanes &&
		len(h.salt) == passwordSalt && len(h.hash) == passwordHash
}

func (h phc) String() string {
	return fmt.Sprintf("%sm=%d,t=%d,p=%d$%s$%s", phcHead, h.memory, h.time, h.lanes,
		phcCoding.EncodeToString(h.salt), phcCoding.EncodeToString(h.hash))
}

// parsePHC reads what String writes, within bounds: a record that was tampered with
// must not cost a gigabyte.
func parsePHC(text string) (h phc, err error) {
	rest, ok := strings.CutPrefix(text, phcHead)
	parts := strings.Split(rest, "$")
	if !ok || len(parts) != 3 {
		return h, errNoPHC
	}
	costs := strings.Split(parts[0], ",")
	if len(costs) != 3 {
		return h, errNoPHC
	}
	memory, ok1 := cost(costs[0], "m=", mostMemory)
	passes, ok2 := cost(costs[1], "t=", mostPasses)
	lanes, ok3 := cost(costs[2], "p=", mostLanes)
	salt, err1 := phcCoding.DecodeString(parts[1])
	hash, err2 := phcCoding.DecodeString(parts[2])
	h = phc{memory: memory, time: passes, lanes: uint8(lanes), salt: salt, hash: hash}
	if !ok1 || !ok2 || !ok3 || err1 != nil || err2 != nil || memory < 8*lanes ||
		len(salt) < 8 || len(salt) > 64 || len(hash) < 16 || len(hash) > 64 || h.String() != text {
		return phc{}, errNoPHC
	}
	return h, nil
}

func cost(text, name string, most uint64) (uint32, bool) {
	digits, ok := strings.CutPrefix(text, name)
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), ok && err == nil && n >= 1 && n <= most
}
