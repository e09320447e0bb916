package vaulttest

import (
	"deedkeep/app/model"
)

func LinkActor(address string) model.Actor {
	return model.Actor{Kind: model.ActorLink, Address: address, RequestID: "r"}
}
