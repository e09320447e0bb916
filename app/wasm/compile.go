// Package wasm runs engines that are compiled to WebAssembly: it compiles their code or loads it
// from a cache, allocates their memory, calls their functions, and implements the functions that they
// import. The only files that an engine sees are those that its owner adds, and it can only read them.
//
// An engine parses untrusted content only inside its memory, which has a fixed maximum size.
package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Options configures an Engine.
type Options struct {
	Code        []byte // WebAssembly, uncompressed
	CacheDir    string // cache directory for compiled code, created if it doesn't exist; "" compiles each time
	MemoryPages uint32 // maximum size of an instance's memory in pages of 64 KiB; 0 means 4096, which are 256 MiB

	// Exports maps the functions that are called to the names that the code exports them under. A
	// function that isn't listed has its own name.
	Exports map[string]string
}

// Engine is compiled WebAssembly with at most one instance, which runs one call at a time. If content
// breaks the instance, the next content gets a new one.
//
// A call in an endless loop can't be stopped because interruptible WebAssembly takes three to nine
// times as long. An Engine should therefore run in a process that another process can kill (package
// sandbox).
type Engine struct {
	Runtime wazero.Runtime
	Module  wazero.CompiledModule
	Live    *Instance // nil until Instantiate, and after Drop; only to be used between Lock and Unlock

	mu      sync.Mutex
	broken  int
	cache   wazero.CompilationCache // nil if there is no CacheDir
	exports map[string]string       // see Options.Exports
}

// Lock reserves the instance for the caller until Unlock.
func (e *Engine) Lock() { e.mu.Lock() }

// Unlock ends what Lock began.
func (e *Engine) Unlock() { e.mu.Unlock() }

const defaultMemoryPages = 4096

// Compile compiles the code or loads it from the cache. The caller must close the Engine.
func Compile(ctx context.Context, o Options) (*Engine, error) {
	if o.CacheDir == "" {
		return compile(ctx, o, nil)
	}
	e, err := compileCached(ctx, o)
	if err != nil && removeCompiledCode(o.CacheDir) == nil {
		e, err = compileCached(ctx, o)
	}
	if err != nil {
		// If the cache can't be read or written, compiling takes longer, but the engine still works.
		return compile(ctx, o, nil)
	}
	return e, nil
}

// compileCached returns an Engine that keeps its compiled code in o.CacheDir.
func compileCached(ctx context.Context, o Options) (*Engine, error) {
	cache, err := wazero.NewCompilationCacheWithDir(o.CacheDir)
	if err != nil {
		return nil, fmt.Errorf("open compilation cache: %w", err)
	}
	e, err := compile(ctx, o, cache)
	if err != nil {
		return nil, errors.Join(err, cache.Close(ctx))
	}
	return e, nil
}

// removeCompiledCode removes the compiled code from a cache that may be damaged. It doesn't remove
// anything else. wazero uses a separate directory for each of its versions.
func removeCompiledCode(cacheDir string) error {
	entries, err := os.ReadDir(cacheDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), "wazero-") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(cacheDir, entry.Name())))
		}
	}
	return err
}

// compile returns an Engine that owns cache. cache may be nil.
func compile(ctx context.Context, o Options, cache wazero.CompilationCache) (*Engine, error) {
	config := wazero.NewRuntimeConfig().
		WithMemoryLimitPages(cmp.Or(o.MemoryPages, defaultMemoryPages)).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst).
		WithDebugInfoEnabled(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	e := &Engine{Runtime: wazero.NewRuntimeWithConfig(ctx, config), cache: cache, exports: o.Exports}
	module, err := e.Runtime.CompileModule(ctx, o.Code)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile WebAssembly: %w", err), e.Runtime.Close(ctx))
	}
	e.Module = module
	return e, nil
}

// Close closes the engine and its instance and frees their memory.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := errors.Join(e.Drop(ctx), e.Runtime.Close(ctx))
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(ctx))
	}
	return err
}
