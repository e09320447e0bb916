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
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
)

func (s *shell) usersCommand() *cobra.Command {
	return commandGroup("users", "Let people in, and out again", "  deedkeep users create \"Kim Lee\" --role staff\n  deedkeep users list",
		s.usersCreate(), s.usersList(), s.usersRole(),
		s.usersChange("disable", "End a user's sessions and link, and let the user in no more", (*client.Client).DisableUser),
		s.usersChange("enable", "Let a disabled user in again", (*client.Client).EnableUser),
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
			return s.withClient(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				made, err := c.CreateUser(ctx, draft)
				if err != nil {
					return explainRoles(err)
				}
				return s.printLinked(made, fmt.Sprintf("%s can sign in (user %d, %s)", made.Data.Name, made.Data.ID, made.Data.Role))
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "what the user may do: viewer, staff or admin")
	cmd.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input and make no link")
	return cmd
}

// printFirstAdminLink shows, while nobody can administer the vault, the one-time link under
// which the first administrator is made.
func (s *shell) printFirstAdminLink(ctx context.Context, v *instance.Instance, origin string) {
	token, err := v.Users.NewFirstLink(ctx)
	switch {
	case err == nil:
		s.messagef("make the first administrator within 24 hours at %s%s%s", origin, model.PasswordLinkPath, token)
	case errs.KindOf(err) != errs.Conflict:
		s.messagef("no link for the first administrator: %v", message(err))
	}
}

// readPassword takes the first line of standard input; on a terminal without showing
// it. A line end is not part of it, everything else is.
func (s *shell) readPassword() (string, error) {
	line, err := s.readSecret("password")
	if err == nil && line == "" {
		return "", &usageError{errors.New("--password-stdin: there is no password on standard input")}
	}
	return line, err
}

// readSecret reads a line from standard input; on a terminal it prompts and does not
// echo. The line end is not part of it.
func (s *shell) readSecret(what string) (string, error) {
	if file, ok := s.in.(*os.File); ok && isTerminal(file) {
		s.promptf(" ", "%s:", what)
		line, err := term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(s.messages) //nolint:errcheck // no one else to tell
		return string(line), err
	}
	line, err := bufio.NewReader(io.LimitReader(s.in, 2*model.MaxPasswordLength)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the %s: %w", what, err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), nil
}

// explainRoles adds to the refusal of a role which ones there are.
func explainRoles(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || len(refused.Errors.Of("role")) == 0 {
		return err
	}
	var roles []string
	for _, role := range model.Roles() {
		roles = append(roles, string(role))
	}
	return fmt.Errorf("%s; there are %s", strings.TrimSuffix(refused.Errors.Of("role")[0], "."), strings.Join(roles, ", "))
}

// printLinked shows a one-time link, or says what was done where there is none.
func (s *shell) printLinked(made apitypes.UserLinked, done string) error {
	switch {
	case s.json:
		return s.printJSON(made)
	case made.Link == "":
		return s.printf("%s\n", done)
	}
	s.messagef("hand this link to %s: it works once, until %s, and is stored nowhere", made.Data.Name, s.formatTime(made.Data.LinkExpiresAt))
	return s.printf("%s\n", made.Link)
}

func (s *shell) usersList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List all users, disabled ones too",
		Example: "  deedkeep users list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *client.Client) error {
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
		second := "no"
		if u.TwoFactor {
			second = "yes"
		}
		rows = append(rows, []string{strconv.FormatInt(u.ID, 10), u.Name, u.Role, second, s.formatTime(u.LastSeenAt), s.userState(u, time.Now())})
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
			return s.withClient(cmd.Context(), func(ctx context.Context, c *client.Client) error {
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

// usersChange is disable and enable.
func (s *shell) usersChange(verb, short string, change func(*client.Client, context.Context, int64) (apitypes.User, error)) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " NAME",
		Short:   short,
		Example: fmt.Sprintf("  deedkeep users %s \"Kim Lee\"\n  deedkeep users %s 3", verb, verb),
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *client.Client) error {
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
				if verb == "enable" && !user.HasPassword {
					s.messagef("there is no password; \"deedkeep users reset %d\" gives a link to choose one", user.ID)
				}
				return s.printf("%sd %s\n", verb, user.Name)
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
			return s.withClient(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				id, err := userID(ctx, c, args[0])
				if err != nil {
					return err
				}
				made, err := c.ResetUser(ctx, id)
				if err != nil {
					return explainNotFound(err, "user", args[0])
				}
				return s.printLinked(made, "")
			})
		},
	}
}

// userID finds a user by name or, where nobody has that name, by number.
func userID(ctx context.Context, c *client.Client, which string) (int64, error) {
	users, err := c.Users(ctx)
	if err != nil {
		return 0, err
	}
	for _, u := range users {
		if model.Fold(u.Name) == model.Fold(which) {
			return u.ID, nil
		}
	}
	if id, err := strconv.ParseInt(which, 10, 64); err == nil && id > 0 {
		return id, nil
	}
	return 0, fmt.Errorf("there is no user %s; \"deedkeep users list\" shows them", which)
}
