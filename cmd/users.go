package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
	"deedkeep/app/control"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
)

func (s *shell) usersCommand() *cobra.Command {
	return commandGroup("users", "Let people in, and out again", "  deedkeep users create \"Kim Lee\" --role staff\n  deedkeep users list",
		s.usersCreate(), s.usersList(), s.usersRole(),
		s.usersChange("disable", "End a user's sessions and link, and let the user in no more", (*control.Client).DisableUser),
		s.usersChange("enable", "Let a disabled user in again", (*control.Client).EnableUser),
		s.usersReset())
}

func (s *shell) usersCreate() *cobra.Command {
	var role string
	var fromStdin bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a user; the link to choose a password is shown once",
		Long: `Make a user, who signs in with NAME. A one-time link is shown, under which a
password is chosen within 24 hours. With --password-stdin the password is the first
line of standard input, and there is no link.

A viewer sees what is filed; staff files and changes it; an admin runs the vault.`,
		Example: `  deedkeep users create "Kim Lee" --role staff
  deedkeep users create admin --role admin --password-stdin < password.txt`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if role == "" {
				return &usageError{errors.New("--role is wanted: viewer, staff or admin")}
			}
			draft := apitypes.UserCreate{Name: args[0], Role: role}
			if fromStdin {
				password, err := s.readPassword()
				if err != nil {
					return err
				}
				draft.Password = &password
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				created, err := c.CreateUser(ctx, draft)
				if err != nil {
					return explainRoles(err)
				}
				return s.printLinked(created, fmt.Sprintf("%s can sign in (user %d, %s)", created.Data.Name, created.Data.ID, created.Data.Role))
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "what the user may do: viewer, staff or admin")
	cmd.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input and make no link")
	return cmd
}

// printFirstAdminLink prints the one-time link to create the first administrator. If there
// already is an administrator, it prints nothing.
func (s *shell) printFirstAdminLink(ctx context.Context, v *instance.Instance, origin string) {
	token, err := v.Users.NewFirstLink(ctx)
	switch {
	case err == nil:
		s.messagef("make the first administrator within 24 hours at %s%s%s", origin, model.PasswordLinkPath, token)
	case errs.KindOf(err) != errs.Conflict:
		s.messagef("no link for the first administrator: %v", message(err))
	}
}

// readPassword reads a password from the first line of standard input. A terminal doesn't
// echo it.
func (s *shell) readPassword() (string, error) {
	line, err := s.readSecret("password")
	if err == nil && line == "" {
		return "", &usageError{errors.New("--password-stdin: there is no password on standard input")}
	}
	return line, err
}

// readSecret reads a line from standard input and returns it without the line ending. On a
// terminal, it prompts with label and doesn't echo the input.
func (s *shell) readSecret(label string) (string, error) {
	if file, ok := s.in.(*os.File); ok && isTerminal(file) {
		s.promptf(" ", "%s:", label)
		line, err := term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(s.messages) //nolint:errcheck // a failed write to standard error can't be reported
		return string(line), err
	}
	line, err := bufio.NewReader(io.LimitReader(s.in, 2*model.MaxPasswordLength)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the %s: %w", label, err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), nil
}

// explainRoles adds the list of valid roles to an error about an unknown role.
func explainRoles(err error) error {
	rejected, ok := errors.AsType[*client.Error](err)
	if !ok || len(rejected.Errors.Of("role")) == 0 {
		return err
	}
	var roles []string
	for _, role := range model.Roles() {
		roles = append(roles, string(role))
	}
	return fmt.Errorf("%s; there are %s", strings.TrimSuffix(rejected.Errors.Of("role")[0], "."), strings.Join(roles, ", "))
}

// printLinked prints the one-time link in created or, if there isn't one, confirmation.
func (s *shell) printLinked(created apitypes.UserLinked, confirmation string) error {
	switch {
	case s.json:
		return s.printJSON(created)
	case created.Link == "":
		return s.printf("%s\n", confirmation)
	}
	s.messagef("hand this link to %s: it works once, until %s, and is stored nowhere", created.Data.Name, s.formatTime(created.Data.LinkExpiresAt))
	return s.printf("%s\n", created.Link)
}

func (s *shell) usersList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List all users, disabled ones too",
		Example: "  deedkeep users list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				users, err := c.Users(ctx)
				if err != nil {
					return err
				}
				if s.json {
					return s.printJSON(apitypes.List[apitypes.User](users))
				}
				return s.printUsers(users)
			})
		},
	}
}

func (s *shell) printUsers(users []apitypes.User) error {
	if len(users) == 0 {
		s.messagef(`there is no user yet; "deedkeep users create NAME --role admin" makes one`)
		return nil
	}
	rows := [][]string{{"ID", "NAME", "ROLE", "SECOND FACTOR", "LAST SEEN", "STATE"}}
	for _, u := range users {
		twoFactor := "no"
		if u.TwoFactor {
			twoFactor = "yes"
		}
		rows = append(rows, []string{strconv.FormatInt(u.ID, 10), u.Name, u.Role, twoFactor, s.formatTime(u.LastSeenAt), s.userState(u, time.Now())})
	}
	return s.printTable(rows)
}

func (s *shell) userState(u apitypes.User, now time.Time) string {
	switch {
	case u.DisabledAt != nil:
		return "disabled " + s.formatTime(u.DisabledAt)
	case u.HasPassword:
		return "live"
	case u.LinkExpiresAt != nil && now.Before(u.LinkExpiresAt.Time):
		return "invited, link until " + s.formatTime(u.LinkExpiresAt)
	}
	return "no password, and no link that works"
}

func (s *shell) usersRole() *cobra.Command {
	return &cobra.Command{
		Use:   "role NAME viewer|staff|admin",
		Short: "Give a user another role, at once",
		Example: `  deedkeep users role "Kim Lee" admin
  deedkeep users role 3 viewer`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				id, err := userID(ctx, c, args[0])
				if err != nil {
					return err
				}
				user, err := c.SetUserRole(ctx, id, args[1])
				if err != nil {
					return explainNotFound(explainRoles(err), "user", args[0])
				}
				if s.json {
					return s.printJSON(user)
				}
				return s.printf("%s is %s now\n", user.Name, user.Role)
			})
		},
	}
}

// usersChange returns the command "users disable" or "users enable". change makes the
// change.
func (s *shell) usersChange(command, short string, change func(*control.Client, context.Context, int64) (apitypes.User, error)) *cobra.Command {
	return &cobra.Command{
		Use:     command + " NAME",
		Short:   short,
		Example: fmt.Sprintf("  deedkeep users %s \"Kim Lee\"\n  deedkeep users %s 3", command, command),
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				id, err := userID(ctx, c, args[0])
				if err != nil {
					return err
				}
				user, err := change(c, ctx, id)
				if err != nil {
					return explainNotFound(err, "user", args[0])
				}
				if s.json {
					return s.printJSON(user)
				}
				if command == "enable" && !user.HasPassword {
					s.messagef("there is no password; \"deedkeep users reset %d\" gives a link to choose one", user.ID)
				}
				return s.printf("%sd %s\n", command, user.Name)
			})
		},
	}
}

func (s *shell) usersReset() *cobra.Command {
	return &cobra.Command{
		Use:   "reset NAME",
		Short: "Take a user's password and second factor away, and show a link to choose anew",
		Long: `Take a user's password and second factor away, end all sessions, and show a
one-time link under which a new password is chosen within 24 hours.`,
		Example: `  deedkeep users reset "Kim Lee"
  deedkeep users reset 3`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				id, err := userID(ctx, c, args[0])
				if err != nil {
					return err
				}
				created, err := c.ResetUser(ctx, id)
				if err != nil {
					return explainNotFound(err, "user", args[0])
				}
				return s.printLinked(created, "")
			})
		},
	}
}

// userID returns the ID of the user with the given name. If there is no such user, it
// parses nameOrID as an ID.
func userID(ctx context.Context, c *control.Client, nameOrID string) (int64, error) {
	users, err := c.Users(ctx)
	if err != nil {
		return 0, err
	}
	for _, u := range users {
		if model.Fold(u.Name) == model.Fold(nameOrID) {
			return u.ID, nil
		}
	}
	if id, err := strconv.ParseInt(nameOrID, 10, 64); err == nil && id > 0 {
		return id, nil
	}
	return 0, fmt.Errorf("there is no user %s; \"deedkeep users list\" shows them", nameOrID)
}
