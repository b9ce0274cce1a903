// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

/// A token with any number of decimals. Its deployer gets the whole supply.
contract Token {
    string public symbol;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory symbol_, uint8 decimals_, uint256 supply) {
        symbol = symbol_;
        decimals = decimals_;
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= value, "the allowance is too low");
        allowance[from][msg.sender] = allowed - value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) private {
        require(balanceOf[from] >= value, "the balance is too low");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// One pool of two tokens with the interface of a router: the product of its reserves stays, after a fee of 0.3 %.
contract Router {
    Token public immutable one;
    Token public immutable other;

    constructor(Token one_, Token other_) {
        one = one_;
        other = other_;
    }

    function getAmountsOut(uint256 amountIn, address[] memory path) public view returns (uint256[] memory amounts) {
        require(path.length == 2, "the pool has one exchange");
        bool known = (path[0] == address(one) && path[1] == address(other))
            || (path[0] == address(other) && path[1] == address(one));
        require(known, "the pool has other tokens");
        uint256 taxed = amountIn * 997;
        uint256 sold = Token(path[0]).balanceOf(address(this));
        uint256 bought = Token(path[1]).balanceOf(address(this));
        amounts = new uint256[](2);
        amounts[0] = amountIn;
        amounts[1] = (taxed * bought) / (sold * 1000 + taxed);
    }

    function swapExactTokensForTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external returns (uint256[] memory amounts) {
        require(block.timestamp <= deadline, "the deadline is over");
        amounts = getAmountsOut(amountIn, path);
        require(amounts[1] >= amountOutMin, "the price moved");
        require(Token(path[0]).transferFrom(msg.sender, address(this), amountIn));
        require(Token(path[1]).transfer(to, amounts[1]));
    }
}
