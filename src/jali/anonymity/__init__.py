"""k-anonymous regions: how many people match them, their information loss and pureness, and solvers that find them."""
