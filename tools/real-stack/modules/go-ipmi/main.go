// A BMC of the go-ipmi project on 127.0.0.1, which its own program does not offer: that one listens everywhere.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/bougou/go-ipmi/pkg/bmc"
	"github.com/bougou/go-ipmi/pkg/hal/mock"
	"github.com/bougou/go-ipmi/pkg/server"
	"github.com/bougou/go-ipmi/pkg/transport/udp"
	"github.com/bougou/go-ipmi/pkg/types"
)

type user struct {
	Name      string
	Password  string
	Privilege uint8
}

type config struct {
	Port   int
	Guid   string
	Kg     string
	Suites []uint8
	Users  []user
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var settings config
	if err := json.Unmarshal(text, &settings); err != nil {
		return err
	}
	var guid [16]byte
	if _, err := hex.Decode(guid[:], []byte(settings.Guid)); err != nil {
		return err
	}
	suites := make([]types.CipherSuiteID, 0, len(settings.Suites))
	for _, id := range settings.Suites {
		suites = append(suites, types.CipherSuiteID(id))
	}
	info := bmc.DeviceInfo{DeviceID: 32, IPMIVersion: 0x20, ManufacturerID: 0x157, ProductID: 1}
	board := bmc.New(info, guid, mock.New(), bmc.WithKG([]byte(settings.Kg)), bmc.WithCipherSuites(suites))
	for index, given := range settings.Users {
		added, err := board.Users.Add(uint8(index+2), given.Name)
		if err != nil {
			return err
		}
		added.SetPassword([]byte(given.Password))
		added.Enabled = true
		added.ChannelAccess[1] = bmc.UserChannelAccess{
			MaxPrivilege: bmc.PrivilegeLevel(given.Privilege),
			Enabled:      true,
		}
	}
	line, err := udp.Listen(fmt.Sprintf("127.0.0.1:%d", settings.Port))
	if err != nil {
		return err
	}
	return server.NewServer(board, line).Serve(context.Background())
}
