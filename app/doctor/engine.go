package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/blobstore"
	"deedkeep/app/config"
	"deedkeep/app/document"
	"deedkeep/app/sandbox"
)

// engineCacheSize is an upper bound for the size of the compiled engine in the cache, in bytes.
const engineCacheSize = 64 << 20

// checkEngine opens a one-page document in a worker process, as the server does. It also checks the sandbox of that
// process.
func checkEngine(ctx context.Context, opts Options) []apitypes.Diagnosis {
	if err := opts.CheckAssets(); err != nil {
		return listOf(bad("engine", err.Error(), "this binary was built without the PDF engine; build it as described in the README"))
	}
	c := opts.Config
	cache, note := engineCacheDir(c)
	begun := time.Now()
	pool := sandbox.Open(sandbox.Options{
		CacheDir: cache, Workers: 1, MemoryLimit: int64(c.Reader.Memory),
		Deadlines: sandbox.Deadlines{Inspect: c.Reader.Deadline, Image: c.Reader.Image, Text: c.Reader.Text, Searchable: c.Reader.Searchable},
		Log:       opts.Log,
	})
	report, err := pool.Inspect(ctx, strings.NewReader(onePagePDF), int64(len(onePagePDF)), "pdf", document.DefaultInspectLimits())
	err = errors.Join(err, pool.Close())
	const action = "check that the directory reader.cache is writable, " +
		"and that antivirus software or a memory limit doesn't stop the worker processes"
	if err != nil {
		return listOf(bad("engine", "can't open the test document: "+err.Error(), action))
	}
	if report.Pages == nil || *report.Pages != 1 {
		return listOf(bad("engine", fmt.Sprintf("the one-page test document was not read correctly: %+v", report), action))
	}
	gaps, _ := pool.MissingProtections()
	return listOf(ok("engine", fmt.Sprintf("opened a test document in %s%s", time.Since(begun).Round(time.Millisecond), note)),
		diagnoseSandbox(gaps))
}

func listOf(found ...apitypes.Diagnosis) []apitypes.Diagnosis { return found }

// engineCacheDir returns the directory in which to cache the compiled engine. If the engine should not be cached, it
// returns "" and a note for the finding.
func engineCacheDir(c config.Config) (dir, note string) {
	if _, err := os.Stat(c.Data); err != nil {
		return "", "" // don't create the data directory
	}
	// The cache must not take up disk space that uploads need.
	free, err := blobstore.FreeSpace(c.Data)
	if err != nil {
		return "", "; the compiled engine was not cached because the free disk space is unknown: " + err.Error()
	}
	if reserve := uint64(c.Disk.Reserve); free < engineCacheSize || free-engineCacheSize < reserve {
		return "", fmt.Sprintf("; the compiled engine was not cached because only %s are free and %s are reserved",
			apitypes.HumanSize(int64(min(free, math.MaxInt64))), apitypes.HumanSize(int64(min(reserve, math.MaxInt64))))
	}
	return c.ReaderCache(), ""
}

// onePagePDF is a minimal PDF that every PDF reader can open. Its xref table contains the offsets of the objects.
const onePagePDF = "%PDF-1.4\n" +
	"1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n" +
	"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n" +
	"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>\nendobj\n" +
	"xref\n0 4\n0000000000 65535 f \n0000000009 00000 n \n0000000054 00000 n \n0000000105 00000 n \n" +
	"trailer\n<</Size 4/Root 1 0 R>>\nstartxref\n170\n%%EOF\n"

// serverMemory is a high estimate of the memory that the server needs without its worker processes, in bytes.
const serverMemory = 256 << 20

func checkMemory(c config.Config) apitypes.Diagnosis {
	children := c.Reader.Processes
	if children == 0 {
		children = min(2, runtime.NumCPU())
	}
	need := int64(serverMemory) + int64(children)*int64(c.Reader.Memory)
	has, err := machineMemory()
	if err != nil {
		return warn("memory", "can't determine the available memory: "+err.Error(),
			fmt.Sprintf("check that the server can access %s", apitypes.HumanSize(need)))
	}
	return diagnoseMemory(has, need)
}

func diagnoseMemory(has, need int64) apitypes.Diagnosis {
	message := fmt.Sprintf("%s available; large documents need up to %s", apitypes.HumanSize(has), apitypes.HumanSize(need))
	if has < need {
		return warn("memory", message+": documents may have no preview or text, or the system may stop the server",
			"add memory, or lower reader.processes or reader.memory")
	}
	return ok("memory", message)
}
