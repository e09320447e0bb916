package cmd

import (
	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

func (s *shell) typesCommand() *cobra.Command {
	return commandGroup("types", "Manage document types", `  deedkeep types list
  deedkeep types export > types.yaml
  deedkeep types import types.yaml --dry-run`,
		s.typesList(),
		exportCommand(s, "types", "types", "Export the document types", "Document types of instruments, in display order",
			(*control.Client).DocumentTypes, func(types []apitypes.DocumentType) any { return types }),
		importCommand(s, "types", "types", "document type", "Replace the document types from a file",
			`Replace the document types from a file. The file is YAML or JSON, as written by "deedkeep
types export"; - reads standard input. Types are matched by ID, or by name if the file
has no ID. A type without a match is created. A type that is not in the file is retired:
instruments keep it, but you can't use it for new ones. "retired: false" restores a type.
An encumbrance is open until an instrument releases it or it expires.

"grantor_label" and "grantee_label" are what your firm calls the parties, such as Trustor
and Beneficiary of a deed of trust.

Categories: Conveyance, Security (mortgages and security instruments), Release, Lien,
Easements and Restrictions, Plats and Surveys, Court, Tax, Support (supporting
documents).`,
			`  deedkeep types import types.yaml --dry-run
  deedkeep types export | sed 's/name: Starter/name: Prior Policy/' | deedkeep types import -`, (*control.Client).ImportDocumentTypes))
}

func (s *shell) typesList() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List document types",
		Example: "  deedkeep types list\n  deedkeep types list --all --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return query(s, cmd, (*control.Client).DocumentTypes, func(types []apitypes.DocumentType) error {
				list := []apitypes.DocumentType{}
				for _, t := range types {
					if all || !t.Retired {
						list = append(list, t)
					}
				}
				return printList(s, list, "", "ID\tNAME\tPARTIES\tCATEGORY\tENCUMBRANCE\t", func(t apitypes.DocumentType) []any {
					parties, category := t.GrantorLabel+" / "+t.GranteeLabel, model.Category(t.Category).Label()
					yes, retired := map[bool]string{true: "yes"}[t.Encumbrance], map[bool]string{true: "retired"}[t.Retired]
					return []any{t.ID, t.Name, parties, category, yes, retired}
				})
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "include retired types")
	return cmd
}
