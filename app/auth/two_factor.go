package auth

import (
	"context"
	"fmt"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// totpPurpose is what the secret of a second factor is sealed for.
const totpPurpose = "totp"

// recoveryCodeCount is how many are made at once.
const recoveryCodeCount = 10

// TwoFactorSetup is a second factor to be set up: Secret for people who type it,
// Address (otpauth:) for a QR code. Both are told here and kept sealed.
type TwoFactorSetup struct{ Secret, URI string }

var (
	errSetupNotStarted   = &errs.Error{Kind: errs.Conflict, Message: "Begin to set up the second factor first."}
	errNoTwoFactor       = &errs.Error{Kind: errs.Conflict, Message: "No second factor is set up."}
	errTwoFactorRequired = &errs.Error{Kind: errs.Conflict, Message: "A second factor is required here; set up another one in its place."}
)

// TwoFactorRequired reports whether the settings want a second factor of everybody.
func (u *Users) TwoFactorRequired() bool { return u.auth.rules.RequireTwoFactor }

// BeginTwoFactor offers a second factor to the user who acts, who shows the password
// once more. Nothing changes until ConfirmTwoFactor; beginning again makes a new offer.
func (u *Users) BeginTwoFactor(ctx context.Context, actor model.Actor, password string) (offer TwoFactorSetup, err error) {
	user, err := u.confirmPassword(ctx, actor, password)
	if err != nil {
		return offer, err
	}
	if offer.Secret, offer.URI, err = secret.NewTOTP(u.auth.Rand, "deedkeep", user.Name); err != nil {
		return offer, err
	}
	sealed, err := u.auth.secrets.Encrypt(u.auth.Rand, totpPurpose, txn.RecordRef("user", user.ID), offer.Secret)
	if err != nil {
		return TwoFactorSetup{}, err
	}
	err = u.updateSelf(ctx, actor, user.Password, nil, func(_ *store.Tx, user *model.User) error {
		user.PendingTwoFactor = &model.TwoFactor{EncryptedSecret: sealed, EnabledAt: u.auth.Now()}
		return nil
	})
	if err != nil {
		return TwoFactorSetup{}, err
	}
	return offer, nil
}

// ConfirmTwoFactor sets up what was begun, once a code shows that the device has it. It
// gives ten recovery codes, which are told here and kept as hashes. Other sessions of
// the user end. Invalid for a wrong code.
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
		plain, err := u.auth.secrets.Decrypt(totpPurpose, txn.RecordRef("user", user.ID), user.PendingTwoFactor.EncryptedSecret)
		if err != nil {
			return fmt.Errorf("second factor of user %d: %w", user.ID, err)
		}
		var ok bool
		if step, ok = secret.VerifyTOTP(plain, code, u.auth.Now(), 0); !ok {
			return errs.InvalidField("code", "This code is wrong. Is the clock of the device right?")
		}
		return nil
	}, func(t *store.Tx, user *model.User) error {
		factor := *user.PendingTwoFactor
		factor.LastStep, factor.RecoveryHashes, factor.EnabledAt = step, hashes, u.auth.Now()
		user.TwoFactor, user.PendingTwoFactor = &factor, nil
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

// RemoveTwoFactor takes the second factor of the user who acts away, the password being
// shown once more. Conflict when there is none, or one is required.
func (u *Users) RemoveTwoFactor(ctx context.Context, actor model.Actor, password string) error {
	user, err := u.confirmPassword(ctx, actor, password)
	if err != nil {
		return err
	}
	return u.updateSelf(ctx, actor, user.Password, func(user model.User) error {
		switch {
		case user.TwoFactor == nil:
			return errNoTwoFactor
		case u.auth.rules.RequireTwoFactor:
			return errTwoFactorRequired
		}
		return nil
	}, func(t *store.Tx, user *model.User) error {
		user.TwoFactor, user.PendingTwoFactor = nil, nil
		return u.event(t, actor, *user, "user.second_factor_removed", nil)
	})
}

// NewRecoveryCodes gives ten new recovery codes to the user who acts; those before
// end. The password is shown once more. Conflict without a second factor.
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
		factor := *user.TwoFactor
		factor.RecoveryHashes = hashes
		user.TwoFactor = &factor
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
			return nil, nil, fmt.Errorf("a new recovery code does not parse")
		}
		codes, hashes = append(codes, code), append(hashes, hash)
	}
	return codes, hashes, nil
}
