package auth

import (
	"context"
	"fmt"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
)

// totpPurpose is the purpose string for encrypting TOTP secrets.
const totpPurpose = "totp"

// recoveryCodeCount is the number of recovery codes per user.
const recoveryCodeCount = 10

// TwoFactorSetup is the secret of a two-factor setup that is not confirmed yet. Users
// type Secret or scan URI (otpauth:) as a QR code. The server stores the secret only in
// encrypted form.
type TwoFactorSetup struct{ Secret, URI string }

var (
	errSetupNotStarted   = &errs.Error{Kind: errs.Conflict, Message: "Start two-factor setup first."}
	errNoTwoFactor       = &errs.Error{Kind: errs.Conflict, Message: "Two-factor authentication isn't set up."}
	errTwoFactorRequired = &errs.Error{Kind: errs.Conflict, Message: "You can't turn off two-factor authentication because this server requires it. To change devices, set it up again."}
)

// TwoFactorRequired reports whether the settings require two-factor authentication for
// all users.
func (u *Users) TwoFactorRequired() bool { return u.auth.RequireTwoFactor() }

// BeginTwoFactor starts the setup of two-factor authentication for the signed-in user.
// password must be the user's password. The setup takes effect when ConfirmTwoFactor is
// called. Another call of BeginTwoFactor replaces the secret.
func (u *Users) BeginTwoFactor(ctx context.Context, actor model.Actor, password string) (setup TwoFactorSetup, err error) {
	user, err := u.confirmPassword(ctx, actor, password)
	if err != nil {
		return setup, err
	}
	if setup.Secret, setup.URI, err = secret.NewTOTP(u.auth.Rand, "deedkeep", user.Name); err != nil {
		return setup, err
	}
	encrypted, err := u.auth.secrets.Encrypt(u.auth.Rand, totpPurpose, model.RecordRef("user", user.ID), setup.Secret)
	if err != nil {
		return TwoFactorSetup{}, err
	}
	err = u.updateSelf(ctx, actor, user.Password, nil, func(_ *store.Tx, user *model.User) error {
		user.PendingTwoFactor = &model.TwoFactor{EncryptedSecret: encrypted, EnabledAt: u.auth.Now()}
		return nil
	})
	if err != nil {
		return TwoFactorSetup{}, err
	}
	return setup, nil
}

// ConfirmTwoFactor completes the setup with a code from the user's device and ends the
// user's other sessions. It returns recoveryCodeCount recovery codes, which are stored
// only as hashes. It returns Invalid if the code is wrong.
func (u *Users) ConfirmTwoFactor(ctx context.Context, actor model.Actor, code string) (codes []string, err error) {
	codes, hashes, err := u.generateRecoveryCodes()
	if err != nil {
		return nil, err
	}
	var step uint64
	err = u.updateSelf(ctx, actor, "", func(user model.User) error {
		if user.PendingTwoFactor == nil {
			return errSetupNotStarted
		}
		totpSecret, err := u.auth.secrets.Decrypt(totpPurpose, model.RecordRef("user", user.ID), user.PendingTwoFactor.EncryptedSecret)
		if err != nil {
			return fmt.Errorf("decrypt two-factor secret of user %d: %w", user.ID, err)
		}
		var ok bool
		if step, ok = secret.VerifyTOTP(totpSecret, code, u.auth.Now(), 0); !ok {
			return errs.InvalidField("code", "Incorrect verification code. Check the time on your device.")
		}
		return nil
	}, func(t *store.Tx, user *model.User) error {
		twoFactor := *user.PendingTwoFactor
		twoFactor.LastStep, twoFactor.RecoveryHashes, twoFactor.EnabledAt = step, hashes, u.auth.Now()
		user.TwoFactor, user.PendingTwoFactor = &twoFactor, nil
		ended, err := u.auth.Sessions.removeAllExcept(t, user.ID, actor.Session)
		if err != nil {
			return err
		}
		return u.event(t, actor, *user, "user.second_factor_added", map[string]string{"sessions": strconv.Itoa(ended)})
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// RemoveTwoFactor disables two-factor authentication for the signed-in user. password
// must be the user's password. It returns Conflict if two-factor authentication is
// required or already disabled.
func (u *Users) RemoveTwoFactor(ctx context.Context, actor model.Actor, password string) error {
	user, err := u.confirmPassword(ctx, actor, password)
	if err != nil {
		return err
	}
	return u.updateSelf(ctx, actor, user.Password, func(user model.User) error {
		switch {
		case user.TwoFactor == nil:
			return errNoTwoFactor
		case u.auth.RequireTwoFactor():
			return errTwoFactorRequired
		}
		return nil
	}, func(t *store.Tx, user *model.User) error {
		user.TwoFactor, user.PendingTwoFactor = nil, nil
		return u.event(t, actor, *user, "user.second_factor_removed", nil)
	})
}

// ResetTwoFactor removes the two-factor authentication of a user who can't use it, and ends
// the user's sessions. The password stays. It returns Conflict if there is none.
func (u *Users) ResetTwoFactor(ctx context.Context, actor model.Actor, id uint64) (model.User, error) {
	return u.update(ctx, actor, id, func(_ *store.Tx, user model.User) (bool, error) {
		if user.TwoFactor == nil {
			return false, errNoTwoFactor
		}
		return true, nil
	}, func(t *store.Tx, user *model.User) error {
		user.TwoFactor, user.PendingTwoFactor = nil, nil
		ended, err := u.auth.Sessions.removeAllExcept(t, id, "")
		if err != nil {
			return err
		}
		return u.event(t, actor, *user, "user.second_factor_removed", map[string]string{"sessions": strconv.Itoa(ended)})
	})
}

// NewRecoveryCodes replaces the recovery codes of the signed-in user. password must be
// the user's password. It returns Conflict if two-factor authentication is disabled.
func (u *Users) NewRecoveryCodes(ctx context.Context, actor model.Actor, password string) (codes []string, err error) {
	user, err := u.confirmPassword(ctx, actor, password)
	if err != nil {
		return nil, err
	}
	codes, hashes, err := u.generateRecoveryCodes()
	if err != nil {
		return nil, err
	}
	err = u.updateSelf(ctx, actor, user.Password, func(user model.User) error {
		if user.TwoFactor == nil {
			return errNoTwoFactor
		}
		return nil
	}, func(t *store.Tx, user *model.User) error {
		twoFactor := *user.TwoFactor
		twoFactor.RecoveryHashes = hashes
		user.TwoFactor = &twoFactor
		return u.event(t, actor, *user, "user.recovery_codes_made", nil)
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

func (u *Users) generateRecoveryCodes() (codes, hashes []string, err error) {
	for range recoveryCodeCount {
		code, err := secret.NewRecoveryCode(u.auth.Rand)
		if err != nil {
			return nil, nil, err
		}
		hash, ok := u.auth.secrets.HashRecoveryCode(code)
		if !ok {
			return nil, nil, fmt.Errorf("generated recovery code can't be parsed")
		}
		codes, hashes = append(codes, code), append(hashes, hash)
	}
	return codes, hashes, nil
}
