package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup/archive"
	"deedkeep/app/control"
	"deedkeep/app/importer"
)

// importFlags contains the flags of "deedkeep import".
type importFlags struct {
	folder   string
	report   string
	parallel int
	dry      bool
}

// errRejected means that an import finished but rejected some files.
var errRejected = errors.New("import finished")

// maxParallel is the maximum value of --parallel.
const maxParallel = 32

func (s *shell) importCommand() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import DIR",
		Short: "Import a folder of existing documents",
		Long: `Import a folder of existing documents. Its subfolders become folders on the page Vault,
below --folder or at the top level. Documents directly in DIR go to --folder, or to no
folder. Each document is checked like an upload. DIR itself is not changed.

You can stop the import at any time and resume it with the same command. A document that
is already in its folder, with the same name and content, is not imported again.
Documents in the trash don't count.

Skipped and reported: rejected files, unreadable files, and symbolic links. Files in
folders that deedkeep can't create (more than 32 levels deep, or an invalid name) are
rejected. Hidden files and system files (such as .DS_Store, Thumbs.db, and desktop.ini)
are skipped and counted, but are not errors.

Exit code 1: the import stopped before the end. Exit code 4: the import finished, but
some files were rejected.`,
		Example: `  deedkeep import "D:\Closed Files" --folder "Closed Files" --dry-run
  deedkeep import /mnt/old-server/abstracts --folder Old/Abstracts --report rejected.csv`,
		Annotations: missingArg("DIR is required: the folder with the documents to import"),
		RunE:        func(cmd *cobra.Command, args []string) error { return s.importTree(cmd.Context(), args[0], f) },
	}
	cmd.Flags().StringVar(&f.folder, "folder", "", "target folder on the page Vault, such as Old/Abstracts; created if missing")
	cmd.Flags().StringVar(&f.report, "report", "", "CSV file for the list of rejected files and reasons")
	cmd.Flags().IntVar(&f.parallel, "parallel", 4, fmt.Sprintf("number of documents to import at the same time, 1 to %d", maxParallel))
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "preview only: check all files and list those that would be rejected")
	return cmd
}

func (s *shell) importTree(ctx context.Context, dir string, f importFlags) error {
	if f.parallel < 1 || f.parallel > maxParallel {
		return &usageError{fmt.Errorf("--parallel must be between 1 and %d", maxParallel)}
	}
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if err := checkNotVault(dir); err != nil {
		return err
	}
	c, err := s.load(ctx, nil)
	if err != nil {
		return err
	}
	if err := s.checkAssets(); err != nil {
		return err
	}
	dataDir, _ := os.Stat(c.Data) // nil if there is no data directory
	total, err := importer.Count(ctx, dir, dataDir)
	if err != nil {
		return err
	}
	return s.connect(ctx, vaultAccess{WithSandbox: true}, func(ctx context.Context, c *control.Client) (err error) {
		rejections := newRejectionReport(f.report)
		defer func() { err = errors.Join(err, rejections.close()) }()
		progress, finish := s.showProgress("import")
		defer finish()
		i := &importRun{shell: s, client: c, dry: f.dry, rejections: rejections,
			destination: strings.FieldsFunc(f.folder, func(r rune) bool { return r == '/' }), folders: map[string]targetFolder{}, progress: progress,
			position: apitypes.Progress{Total: int64(total), Unit: "documents"}}
		walkErr := i.run(ctx, dir, dataDir, f.parallel)
		finish()
		return i.finish(walkErr)
	})
}

// checkNotVault returns an error if dir is inside a data directory or a backup directory.
// Their documents are already in a vault.
func checkNotVault(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for last := ""; path != last; last, path = path, filepath.Dir(path) {
		switch {
		case isFile(filepath.Join(path, "vault.db")) && isFile(filepath.Join(path, "secret.key")):
			return fmt.Errorf("%s is a data directory of deedkeep; its documents are already stored", path)
		case isFile(filepath.Join(path, archive.HeaderFile)):
			return fmt.Errorf("%s contains backups of deedkeep; restore them with \"deedkeep restore\"", path)
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// finish prints the report and returns the error for the exit code. walkErr is the error
// that stopped the import, or nil.
func (i *importRun) finish(walkErr error) error {
	if errors.Is(walkErr, control.ErrNoServer) {
		return walkErr // the server has stopped; connect repeats the import in this process
	}
	i.count.DryRun, i.count.Rejections = i.dry, i.rejections.first
	i.rejections.print(i.shell)
	err := i.shell.print(i.count, "%s\n", summary(i.count))
	switch {
	case walkErr != nil:
		i.shell.messagef("run the same command again to resume where it stopped")
		return errors.Join(walkErr, err)
	case err != nil:
		return err
	case i.count.Rejected+i.count.Unreadable+i.count.Links > 0:
		return fmt.Errorf("%w: %d not imported", errRejected, i.count.Rejected+i.count.Unreadable+i.count.Links)
	}
	return nil
}

// summary returns the report as one line of text.
func summary(r apitypes.ImportReport) string {
	verb := "imported"
	if r.DryRun {
		verb = "to import"
	}
	text := fmt.Sprintf("%d %s (%s)", r.Imported, verb, apitypes.HumanSize(r.Bytes))
	for _, part := range []struct {
		n         int64
		one, many string
	}{
		{r.Existing, "already imported", "already imported"}, {r.Rejected, "rejected", "rejected"}, {r.Unreadable, "unreadable", "unreadable"},
		{r.Links, "link or special file skipped", "links and special files skipped"},
		{r.Skipped, "hidden or system file skipped", "hidden or system files skipped"}, {r.Folders, "folder created", "folders created"},
	} {
		if part.n > 0 {
			text += ", " + apitypes.Count(part.n, part.one, part.many)
		}
	}
	return text
}
