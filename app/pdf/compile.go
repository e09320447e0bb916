package pdf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

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
		WithMemoryLimitPages(o.MemoryPages).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst).
		WithDebugInfoEnabled(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	e := &Engine{runtime: wazero.NewRuntimeWithConfig(ctx, config), cache: cache}
	module, err := e.runtime.CompileModule(ctx, o.Wasm)
	if err == nil {
		e.module = module
		err = e.exportHost(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile PDFium: %w", err), e.runtime.Close(ctx))
	}
	return e, nil
}
